"""Callbacks of a Module after a batch or an epoch, under MXNet's names."""

from __future__ import annotations

import collections
import logging
import time
from typing import TYPE_CHECKING

from .model import save_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable

BatchEndParam = collections.namedtuple("BatchEndParam",
                                       ["epoch", "nbatch", "eval_metric", "locals"])
BatchEndParam.__doc__ = "What a callback is given, in the thread that trains."


class Speedometer:
    """Logs samples per second and the metrics every `frequent` batches. Its clock measures one
    training, so use one for each thread that trains."""

    def __init__(self, batch_size: int, frequent: int = 50, auto_reset: bool = True) -> None:
        self.batch_size = batch_size
        self.frequent = frequent
        self._since = None

    def __call__(self, param: BatchEndParam) -> None:
        if param.nbatch == 0 or self._since is None:
            self._since = time.monotonic()
        elif param.nbatch % self.frequent == 0:
            seconds, self._since = time.monotonic() - self._since, time.monotonic()
            values = (
                "".join(f"\t{name}={value:f}" for name, value in param.eval_metric.get_name_value())
                if param.eval_metric else "")
            logging.info("Epoch[%d] Batch [%d]\tSpeed: %.2f samples/sec%s", param.epoch,
                         param.nbatch, self.frequent * self.batch_size / max(seconds, 1e-9), values)


def do_checkpoint(prefix: str, period: int = 1) -> Callable[..., None]:
    """Writes PREFIX-symbol.json, and PREFIX-0001.params after the first epoch, every `period`
    epochs."""

    def call(epoch, symbol, arg_params, aux_params):
        if (epoch + 1) % period == 0:
            save_checkpoint(prefix, epoch + 1, symbol, arg_params, aux_params)

    return call


def log_train_metric(period: int, auto_reset: bool = False) -> Callable[[BatchEndParam], None]:
    """Logs the metrics every `period` batches."""

    def call(param):
        if param.nbatch % period == 0 and param.eval_metric is not None:
            for name, value in param.eval_metric.get_name_value():
                logging.info("Iter[%d] Batch[%d] Train-%s=%f", param.epoch, param.nbatch,
                             name, value)

    return call
