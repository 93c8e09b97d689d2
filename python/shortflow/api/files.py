"""Files that appear complete or not at all."""

from shortflow.store.files import Kind, check_replaceable, read_json_file, write_text
