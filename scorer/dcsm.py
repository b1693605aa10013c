"""Dense cosine similarity maps as pure tensor functions (method 5.1, B.3).

Shapes: B images, L texts, T text tokens (rows of a map), I image tokens (columns), D joint dimensions, R rows.
"""

from torch import Tensor

from scorer.configs import ZScore


def cosine_maps(images_BID: Tensor, texts_LTD: Tensor) -> Tensor:
    """The cosine of every text token with every image token, (B, L, T, I). Tokens must be unit vectors."""
    texts, rows, width = texts_LTD.shape
    maps = texts_LTD.reshape(1, texts * rows, width) @ images_BID.transpose(1, 2)
    return maps.view(len(images_BID), texts, rows, images_BID.shape[1])


def insert_rows(maps_BLTI: Tensor, table_RI: Tensor, text: Tensor, token: Tensor, row: Tensor) -> Tensor:
    """Write functional row `row[k]` over the row `token[k]` of text `text[k]`, in every image's map, in place."""
    maps_BLTI[:, text, token] = table_RI[row].to(maps_BLTI.dtype)
    return maps_BLTI


def z_score(maps_BLTI: Tensor, over: ZScore) -> Tensor:
    """Zero mean and unit variance over each map, or over the whole batch as the public code does.

    Over the batch, a pair's score depends on what else was scored with it.
    """
    if over == "none":
        return maps_BLTI
    dims = (2, 3) if over == "map" else (0, 1, 2, 3)
    wide = maps_BLTI.float()
    centred = wide - wide.mean(dim=dims, keepdim=True)
    return (centred / centred.square().mean(dim=dims, keepdim=True).add(1e-12).sqrt()).to(maps_BLTI.dtype)
