//! Holds `sys` against `jitk.h`: each function with its number of parameters, each struct's layout as a C compiler has it.
//! Skipped outside of the source tree, which has the header.

use jitk::sys;
use std::{
    collections::BTreeMap,
    env, fs,
    mem::{size_of, size_of_val, MaybeUninit},
    path::{Path, PathBuf},
    process::Command,
    ptr::addr_of,
};

fn include_folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    if folder.join("jitk/jitk.h").exists() {
        return Some(folder);
    }
    println!("skipped: needs include/jitk/jitk.h of the source tree, found none");
    None
}

/// The text without what stands between `open` and `close`.
fn without(text: &str, open: &str, close: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find(open) {
        kept.push_str(&rest[..begin]);
        rest = rest[begin..].find(close).map_or("", |end| &rest[begin + end + close.len()..]);
    }
    kept + rest
}

/// Functions and their numbers of parameters: what follows each `mark`, up to its ')'.
fn functions(text: &str, mark: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for declaration in text.split(mark).skip(1) {
        let open = match declaration.find('(') {
            Some(open) => open,
            None => continue,
        };
        let name = declaration[..open].rsplit(|c: char| c.is_whitespace() || c == '*').next().unwrap_or("");
        if !name.starts_with("jitk_") {
            continue;
        }
        let close = declaration.find(')').expect("a declaration ends with a parenthesis");
        let parameters = declaration[open + 1..close].trim().trim_end_matches(',');
        let count = if parameters.is_empty() || parameters == "void" { 0 } else { parameters.split(',').count() };
        found.insert(name.to_owned(), count);
    }
    found
}

#[test]
fn functions_are_those_of_the_header() {
    let folder = match include_folder() {
        Some(folder) => folder,
        None => return,
    };
    let header = without(&fs::read_to_string(folder.join("jitk/jitk.h")).unwrap(), "/*", "*/");
    let wanted = functions(&header, "JITK_API ");
    assert!(wanted.len() > 80, "the header was not understood: {wanted:?}");
    assert_eq!(functions(include_str!("../src/sys.rs"), "pub fn "), wanted);
}

/// For each struct a line of its size, for each field a line of its offset and size: in Rust, and as C that prints them.
macro_rules! layouts {
    ($($name:ident { $($field:ident),* })+) => {{
        let (mut rust, mut c) = (Vec::new(), String::new());
        $(
            rust.push(format!("{} {}", stringify!($name), size_of::<sys::$name>()));
            c += concat!("printf(\"", stringify!($name), " %zu\\n\", sizeof(", stringify!($name), "));\n");
            #[allow(unused_variables)]
            let all = MaybeUninit::<sys::$name>::zeroed();
            $(
                // Only addresses and types are looked at.
                unsafe {
                    let field = addr_of!((*all.as_ptr()).$field);
                    let offset = field as usize - all.as_ptr() as usize;
                    rust.push(format!("{}.{} {offset} {}", stringify!($name), stringify!($field), size_of_val(&*field)));
                }
                c += concat!("printf(\"", stringify!($name), ".", stringify!($field), " %zu %zu\\n\", offsetof(",
                    stringify!($name), ", ", stringify!($field), "), sizeof(((", stringify!($name), " *)0)->",
                    stringify!($field), "));\n");
            )*
        )+
        (rust, c)
    }};
}

#[test]
fn structs_lie_as_in_c() {
    let folder = match include_folder() {
        Some(folder) => folder,
        None => return,
    };
    let (rust, body) = layouts! {
        jitk_runtime_options_t { struct_size, store_path, store_bytes, memory_bytes, lock_deadline_ms, jobs, compiler_library,
            assembler, log, log_user, log_level, bundles, num_bundles, isolate_compiler, compile_deadline_ms,
            compile_memory_bytes, compiler_program, shared_store, shared_deadline_ms, host_jobs, reproducers, worker_nice, use_tuned,
            late_compilation, late_compilation_user }
        jitk_late_compilation_t { struct_size, cause, status, key, description, target, compile_ms }
        jitk_counters_t { struct_size, found_loaded, found_in_memory, found_on_disk, found_in_bundles, found_in_shared_store,
            joined, compiled, failed, compilations, failed_compilations, compile_us, lock_timeouts, loads, loaded_bytes, found_equal }
        jitk_device_options_t { struct_size, emulator_immediate, emulator_workers, emulator_seed, cuda_context }
        jitk_kernel_info_t { struct_size, description, target, key, tier, registers, spill_bytes, shared_bytes, num_steps,
            code_bytes, build_ms, lower_ms, llvm_ms, assemble_ms, obtain_ms, load_ms, stands_in, threads }
        jitk_launch_t { struct_size, tensors, num_tensors, dimensions, num_dimensions, scalars, num_scalars, workspace,
            workspace_bytes, stream, device, flags, typed_scalars, num_typed_scalars }
        jitk_dlpack_launch_t { struct_size, tensors, num_tensors, scalars, num_scalars, dimensions, num_dimensions, workspace,
            workspace_bytes, stream, flags, typed_scalars, num_typed_scalars }
        jitk_plan_options_t { struct_size, on_miss, max_missed_kernels }
        jitk_progress_t { struct_size, done, total, status, error, info }
        jitk_prepare_options_t { struct_size, device, target, progress, progress_user, deadline_ms }
        jitk_scalar_t { kind }
        jitk_dltensor_t { data, device, ndim, dtype, shape, strides, byte_offset }
        jitk_dldevice_t { device_type, device_id }
        jitk_dldata_type_t { code, bits, lanes }
    };
    let work = env::temp_dir().join(format!("jitk-rust-layout-{}", std::process::id()));
    fs::create_dir_all(&work).unwrap();
    let source = work.join("layout.c");
    fs::write(&source, format!("#include <jitk/jitk.h>\n#include <stdio.h>\nint main(void) {{\n{body}return 0;\n}}\n"))
        .unwrap();
    let program = work.join("layout");
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".into());
    let compiled = Command::new(compiler).arg("-I").arg(folder).arg(&source).arg("-o").arg(&program).status();
    assert!(compiled.expect("a C compiler, as Rust's linker needs one too").success());
    let output = Command::new(&program).output().unwrap();
    fs::remove_dir_all(&work).unwrap();
    let lines: Vec<String> = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(rust, lines);
}
