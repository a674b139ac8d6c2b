//! Plans, prepares and launches one product: `cargo run --example matmul -- cuda:0` (or emulator:sm_90a).

use jitk::{Description, Error, Launch, Miss, Runtime, RuntimeOptions};

fn main() -> Result<(), Error> {
    let place = std::env::args().nth(1).unwrap_or_else(|| "emulator:sm_90a".into());
    let runtime = Runtime::new(&RuntimeOptions::default())?;
    let device = runtime.device(&place)?;
    let matmul = Description::parse("matmul m=*<=128 n=64 k=64 dtype=bf16 out_dtype=fp32")?;

    // At model load.
    let plan = runtime.plan(Miss::Fail)?;
    plan.add(&matmul, 0)?;
    plan.prepare_with(&device, |progress| {
        println!("{} of {}: {}", progress.done, progress.total, progress.info.description)
    })?;
    plan.wait()?;
    plan.seal()?;

    // While serving.
    let kernel = plan.kernel(&device, &matmul)?;
    let rows = 100;
    let one = 0x3F80u16.to_le_bytes(); // of bf16
    let a = device.allocate(rows * 64 * 2)?;
    let b = device.allocate(64 * 64 * 2)?;
    let c = device.allocate(rows * 64 * 4)?;
    a.write(&one.repeat(rows * 64))?;
    b.write(&one.repeat(64 * 64))?;
    let tensors = [a.address(), b.address(), c.address()];
    // The buffers are as large as the description has them, and live until the device is synchronized.
    unsafe { kernel.launch(&Launch { tensors: &tensors, dimensions: &[rows as i64], ..Default::default() })? };
    device.synchronize()?;
    let mut first = [0; 4];
    c.read(&mut first)?;
    println!("on {}: c[0][0] = {}", device.name(), f32::from_le_bytes(first));
    Ok(())
}
