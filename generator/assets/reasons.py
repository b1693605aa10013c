"""Why an asset cannot be used: the closed list."""

REASONS: dict[str, str] = {
    # Seen without Blender, from the file alone.
    "not_a_model": "the content is not of the format that its name says",
    "empty_file": "the file has no bytes",
    "truncated": "the file is shorter or longer than its header says",
    "unsupported_version": "not glTF 2",
    "bad_json": "the JSON does not parse",
    "bad_structure": "an index, type or length in the file contradicts another",
    "node_loop": "the node graph has a cycle, or a node has two parents",
    "missing_file": "a file that it refers to does not exist",
    "outside_folder": "it refers to a file outside its own folder",
    "remote_resource": "it refers to a network address",
    "unsupported_extension": "it requires a glTF extension that cannot be decoded",
    "unsupported_texture": "its base colour texture has a format that cannot be decoded",
    "missing_texture": "its base colour texture cannot be found or read",
    "bad_index": "a triangle refers to a vertex that does not exist",
    "bad_numbers": "coordinates that are not finite",
    "no_geometry": "no triangles in the default scene",
    "too_many_objects": "more objects than one thing is made of",
    "too_heavy": "more bytes, triangles or texels than can be prepared",
    "no_credits": "its licence and author are not known",
    # Seen once it is imported.
    "import_failed": "Blender refuses to import it",
    "no_extent": "all vertices in one point",
    "lost_precision": "so far from the origin that its shape is lost to rounding",
    "backdrop": "stands on a ground plane or before a backdrop many times its size",
    "invisible": "fully transparent",
    "barely_visible": "covers next to nothing of its own box from any side",
    # The process that prepared it.
    "crashed": "Blender crashed on it",
    "timed_out": "took too long to prepare",
    "out_of_memory": "took too much memory to prepare",
}


class Unfit(Exception):
    """The asset cannot be used: `reason` is a key of REASONS, `detail` says what was seen, in one line."""

    def __init__(self, reason: str, detail: str) -> None:
        assert reason in REASONS, reason
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
