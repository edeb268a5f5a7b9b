//! Lets the module be linked without Python on macOS, as on Linux.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
