"""Files that are whole or absent."""

from shortflow.store.files import Kind, check_replaceable, read_json_file, write_text
