#![no_main]

halfspaces_fuzz::json_target!(halfspaces_fuzz::saved);
