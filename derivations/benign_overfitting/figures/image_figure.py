"""Figure 2: test loss over training images and SNR, on images of the user's own or on a synthetic set."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from odesys import Images, Progress, new_figure, save_figure, silent

from ..special.images import load_images, patches, synthetic_images, with_noise
from ..special.patch_network import PatchNetwork, train

SIZES, SNRS = (20, 40, 80, 160), (0.2, 0.65, 1.1, 1.55, 2.0)  # SNR from 0.2 to 2.0 as in the paper
TESTS, EPS, STEPS, WIDTH, SCALE = 300, 0.05, 2000, 8, 0.05


def image_cell(data: Images, N: int, snr: float, seed: int = 0) -> tuple[float, float]:
    """Training and test loss of Eq. (1) on patches of N images, trained to the loss 0.05 or for 2000 steps."""
    rng = np.random.default_rng((seed, N, round(1000 * snr)))
    seen, fresh = data.split(N, min(TESTS, len(data.y) - N), rng)
    X, Y = (patches(with_noise(part.pixels, snr, rng)) for part in (seen, fresh))
    start = PatchNetwork.start(X.shape[1], X.shape[2], WIDTH, SCALE, rng)
    network, loss, _ = train(start, X, seen.y, EPS, STEPS)
    return loss, network.loss(Y, fresh.y)


def figure_2(folder: Path, progress: Progress = silent, data: Path | None = None) -> list[Path]:
    """Two images with their noise, and the heat map; the model is that of Eq. (1), one layer, on patches."""
    images = synthetic_images() if data is None else load_images(data)
    sizes = [N for N in SIZES if len(images.y) >= 2 * N] or [len(images.y) // 2]
    losses = np.empty((len(sizes), len(SNRS), 2))
    for i, N in enumerate(sizes):
        for j, snr in enumerate(SNRS):
            losses[i, j] = image_cell(images, N, snr)
            progress("images", (i * len(SNRS) + j + 1) / (len(sizes) * len(SNRS)))
    fig, axes = new_figure(1, 3, (14, 4.2))
    rng = np.random.default_rng(0)
    for ax, snr in zip(axes, (SNRS[0], SNRS[-1]), strict=False):
        ax.imshow(with_noise(images.pixels[:1], snr, rng)[0], cmap="gray")
        ax.set(title=f"SNR = {snr:g}", xticks=[], yticks=[])
        ax.grid(False)
    step = (SNRS[1] - SNRS[0]) / 2
    edges = np.append(np.array(SNRS) - step, SNRS[-1] + step)
    shown = axes[2].pcolormesh(edges, np.arange(len(sizes) + 1), losses[:, :, 1], cmap="viridis", vmin=0)
    axes[2].set(xlabel="SNR", ylabel="training images $N$", title="test loss")
    axes[2].set_yticks(np.arange(len(sizes)) + 0.5, [str(N) for N in sizes])
    axes[2].grid(False)
    fig.colorbar(shown, ax=axes[2])
    fig.suptitle(f"{images.title}; one layer on patches, training loss at most {losses[:, :, 0].max():.2g}")
    return save_figure(fig, folder, "2")
