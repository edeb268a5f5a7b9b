//! Allows the module to be linked without Python on macOS, as it is on Linux.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
