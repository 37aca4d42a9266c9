# SPDX-License-Identifier: Apache-2.0
"""Percentiles of each image of a stack, without its pixels of no data: the stretch of contrast of satellite images."""
import numpy as np

import libtopk


def limits(images, nodata, percents=(2, 98)):
    """Percentiles (percents, images), by linear interpolation, of the pixels that are not `nodata`; NaN where none are.

    images   (images, height, width)
    """
    return libtopk.percentile(images, percents, dim=(1, 2), ne=nodata)


def stretched(images, nodata):
    """Images of bytes: pixels between the limits go from 1 to 255, and `nodata` is 0."""
    low, high = (limit[:, None, None] for limit in limits(images, nodata))
    share = (images.astype(np.float64) - low) / np.maximum(high - low, 1e-9)
    return np.where(images == nodata, 0, 1 + 254 * np.clip(np.nan_to_num(share), 0, 1)).astype(np.uint8)


def main():
    random = np.random.default_rng(1)
    images = random.gamma(4.0, 300.0, (5, 512, 512)).astype(np.uint16)
    images[:, :, :100] = 65535
    for image, (low, high) in enumerate(limits(images, 65535).T):
        print(f"image {image}: {low:.0f} to {high:.0f}")
    assert stretched(images, 65535)[:, :, :100].max() == 0


if __name__ == "__main__":
    main()
