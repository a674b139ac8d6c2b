//! The crate with the real compiler, on the emulator: a plan, a launch whose result is right, and what is refused.

use jitk::{Buffer, Description, Device, Launch, Miss, Runtime, RuntimeOptions, Scalar, Status};
use std::sync::{
    atomic::{AtomicUsize, Ordering},
    Arc,
};

fn runtime() -> Runtime {
    let options = RuntimeOptions {
        store: Some("".into()),
        compiler_library: std::env::var("JITK_TEST_COMPILER").ok(),
        ..Default::default()
    };
    Runtime::new(&options).unwrap()
}

fn emulator(runtime: &Runtime) -> Device {
    runtime.device("emulator:sm_90a").unwrap()
}

/// A buffer of numbers, each of which `to_bytes` spells.
fn filled<const N: usize>(device: &Device, count: usize, to_bytes: impl Fn(usize) -> [u8; N]) -> Buffer {
    let buffer = device.allocate(count * N).unwrap();
    buffer.write(&(0..count).flat_map(to_bytes).collect::<Vec<u8>>()).unwrap();
    buffer
}

fn floats(buffer: &Buffer) -> Vec<f32> {
    let mut bytes = vec![0; buffer.len()];
    buffer.read(&mut bytes).unwrap();
    bytes.chunks(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect()
}

/// The bf16 of a small whole number, which it holds exactly.
fn bf16(number: f32) -> [u8; 2] {
    ((number.to_bits() >> 16) as u16).to_le_bytes()
}

#[test]
fn a_planned_product_is_right() {
    let (m, n, k) = (19, 32, 64);
    let runtime = runtime();
    let device = emulator(&runtime);
    let matmul = Description::parse("matmul m=*<=64 n=32 k=64 dtype=bf16 out_dtype=fp32").unwrap();
    let plan = runtime.plan(Miss::Fail).unwrap();
    plan.add(&matmul, 0).unwrap();
    assert_eq!(plan.len(), 1);
    let records = Arc::new(AtomicUsize::new(0));
    let counted = records.clone();
    plan.prepare_with(&device, move |progress| {
        assert_eq!((progress.done, progress.total, progress.failure.clone()), (1, 1, None));
        counted.fetch_add(1, Ordering::SeqCst);
    })
    .unwrap();
    plan.wait().unwrap();
    plan.seal().unwrap();
    assert_eq!(records.load(Ordering::SeqCst), 1);

    let kernel = plan.kernel(&device, &matmul).unwrap();
    assert_eq!(kernel.tensors(), ["a", "b", "c"]);
    assert_eq!(kernel.dimensions(), ["m"]);
    assert!(kernel.info().unwrap().description.contains("k=64"));
    let (left, right) =
        (|i: usize, j: usize| ((i * 7 + j) % 5) as f32 - 2.0, |i: usize, j: usize| ((i + j * 3) % 7) as f32 - 3.0);
    let a = filled(&device, m * k, |index| bf16(left(index / k, index % k)));
    let b = filled(&device, k * n, |index| bf16(right(index / n, index % n)));
    let c = filled(&device, m * n, |_| f32::NAN.to_le_bytes());
    let tensors = [a.address(), b.address(), c.address()];
    unsafe { kernel.launch(&Launch { tensors: &tensors, dimensions: &[m as i64], ..Default::default() }).unwrap() };
    device.synchronize().unwrap();
    // Sums of 64 small whole numbers are exact.
    let wanted: Vec<f32> =
        (0..m * n).map(|index| (0..k).map(|j| left(index / n, j) * right(j, index % n)).sum()).collect();
    assert_eq!(floats(&c), wanted);

    let table = plan.dispatch(&device, &matmul, &["m"]).unwrap();
    assert_eq!(table.kernel(&[64]).unwrap().dimensions(), ["m"]);
    assert_eq!(table.kernel(&[65]).err().unwrap().status, Status::NotPrepared);
    let other = Description::parse("matmul m=8 n=32 k=64 dtype=bf16").unwrap();
    assert_eq!(plan.kernel(&device, &other).err().unwrap().status, Status::NotPrepared);
    let refused = unsafe { kernel.launch(&Launch { tensors: &tensors, dimensions: &[65], ..Default::default() }) };
    let refused = refused.unwrap_err();
    assert_eq!(refused.status, Status::InvalidArgument);
    assert_eq!(
        (refused.stage.as_str(), refused.message.as_str()),
        ("launch", "dimension m must be at most 64: got 65")
    );
}

const SCALARS: &str = "
tt.func public @scalars(%x: !tt.ptr<f32>, %y: !tt.ptr<i64>, %z: !tt.ptr<i64>, %a: f32, %b: i64, %c: i64) {
  tt.store %x, %a : !tt.ptr<f32>
  tt.store %y, %b : !tt.ptr<i64>
  tt.store %z, %c : !tt.ptr<i64>
  tt.return
}";

#[test]
fn scalars_of_every_kind_arrive() {
    let runtime = runtime();
    let device = emulator(&runtime);
    let arguments =
        "x: written fp32[1], y: written int64[1], z: written int64[1], a: fp32, b: scalar int64, c: scalar uint64";
    let attributes =
        [("language", "commonir"), ("source", SCALARS), ("entry", "scalars"), ("grid", "1"), ("arguments", arguments)];
    let kernel = runtime.kernel(&device, &Description::new("user_kernel", &attributes).unwrap()).unwrap();
    assert_eq!(kernel.scalar_types(), ["fp32", "int64", "uint64"]);
    let [x, y, z] = [4, 8, 8].map(|bytes| device.allocate(bytes).unwrap());
    let tensors = [x.address(), y.address(), z.address()];
    let launch =
        |scalars: &[Scalar]| unsafe { kernel.launch(&Launch { tensors: &tensors, scalars, ..Default::default() }) };
    launch(&[0.25f32.into(), (-3i64).into(), u64::MAX.into()]).unwrap();
    device.synchronize().unwrap();
    assert_eq!(floats(&x), [0.25]);
    for (buffer, wanted) in [(&y, -3i64), (&z, -1)] {
        let mut bytes = [0; 8];
        buffer.read(&mut bytes).unwrap();
        assert_eq!(i64::from_le_bytes(bytes), wanted);
    }
    let refused = launch(&[0.25f32.into(), (-3i64).into(), (-1i64).into()]).unwrap_err();
    assert_eq!(refused.message, "scalar c must be in the range of uint64: got -1");
    assert!(launch(&[Scalar::Int(0); 65]).unwrap_err().message.starts_with("number of scalars must be at most 64"));
}

#[test]
fn handles_go_in_any_order_and_between_threads() {
    let runtime = runtime();
    let device = emulator(&runtime);
    let description = Description::parse("matmul m=16 n=16 k=64 dtype=fp16").unwrap();
    let kernels: Vec<_> = (0..4)
        .map(|_| {
            let (runtime, device, description) = (runtime.clone(), device.clone(), description.clone());
            std::thread::spawn(move || runtime.kernel(&device, &description).unwrap())
        })
        .collect();
    drop((device, description));
    for kernel in kernels {
        assert_eq!(kernel.join().unwrap().tensors(), ["a", "b", "c"]);
    }
    assert_eq!(runtime.counters().unwrap().compilations, 1);
}

#[test]
fn failures_have_their_details() {
    let runtime = runtime();
    let failure = Description::parse("matmul m=0").err().unwrap();
    assert_eq!((failure.status, failure.stage.as_str()), (Status::InvalidArgument, "schema"));
    assert!(failure.to_string().starts_with("InvalidArgument: "), "{failure}");
    assert!(runtime.device("toaster").err().unwrap().message.starts_with("device must be"));
    assert!(Description::parse("a\0b").err().unwrap().message.starts_with("text must have no zero in it"));
    let buffer = emulator(&runtime).allocate(4).unwrap();
    assert_eq!(buffer.write(&[0; 5]).unwrap_err().message, "a buffer of 4 bytes must be large enough: got 5 bytes");
    assert!(runtime.report().unwrap().contains("build_id"));
}

#[test]
fn a_store_can_be_asked_and_carried() {
    let folder = std::env::temp_dir().join(format!("jitk-rust-store-{}", std::process::id()));
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    std::fs::create_dir_all(&folder).unwrap();
    let open = |name: &str| {
        Runtime::new(&RuntimeOptions {
            store: Some(path(name)),
            compiler_library: std::env::var("JITK_TEST_COMPILER").ok(),
            ..Default::default()
        })
        .unwrap()
    };
    let runtime = open("store");
    let matmul = Description::parse("matmul m=*<=64 n=32 k=64").unwrap();
    let target = "emulator:sm_90a";
    let plan = runtime.plan(Miss::Fail).unwrap();
    plan.add(&matmul, 0).unwrap();
    assert_eq!(plan.trace().unwrap_err().status, Status::InvalidArgument);
    plan.prepare_store(target).unwrap();
    plan.wait_kernel(&matmul, u32::MAX).unwrap();
    plan.wait().unwrap();
    assert!(plan.trace().unwrap().contains("traceEvents"));
    assert!(runtime.explain(&matmul, target).unwrap().contains("\"found\": \"store\""));
    assert!(runtime.configurations(&matmul, target).unwrap().starts_with('['));
    let key = runtime.key(&matmul, target).unwrap();
    let key = key.split('"').nth(3).unwrap();
    assert!(runtime.list_store(true).unwrap().contains(key));
    assert!(runtime.explain_key(key).unwrap().contains(key));

    plan.export(target, &path("plan.bundle")).unwrap();
    assert_eq!(runtime.export_store(&path("all.bundle")).unwrap(), 1);
    let other = open("other");
    assert_eq!(other.import_bundle(&path("all.bundle")).unwrap(), 1);
    assert!(other.list_store(false).unwrap().contains(key));
    other.collect_store(0).unwrap();
    assert!(!other.list_store(false).unwrap().contains(key));

    let artifact = runtime.compile(&matmul, target).unwrap();
    assert!(std::str::from_utf8(artifact.dump(jitk::sys::JITK_DUMP_TTGIR).unwrap()).unwrap().contains("tt.func"));
    assert_eq!(artifact.dump(99), None);
    assert_eq!(artifact.info().unwrap().description, matmul.text());
    assert!(jitk::ops().contains(&"matmul".to_owned()));
    assert!(jitk::op_info("matmul").unwrap().contains("\"tensors\""));
    drop((plan, runtime, other));
    std::fs::remove_dir_all(&folder).unwrap();
}
