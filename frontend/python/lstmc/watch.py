"""Translates events of a training into MXNet's callbacks and log."""

import math
import time

from .callback import BatchEndParam


class Watch:
    """Calls MXNet's callbacks and writes its log, from events of the loop."""

    def __init__(self, module, training, validating, eval_data, begin_epoch, batch_end, epoch_end,
                 eval_end):
        self._module, self._eval_data, self._begin = module, eval_data, begin_epoch
        self._batch_end, self._epoch_end, self._eval_end = batch_end, epoch_end, eval_end
        self._training = [metric for metric in training if metric.compiled]
        self._validating = validating
        self.names = list(dict.fromkeys(metric.compiled for metric in (*training, *validating)
                                        if metric.compiled))
        self._epoch, self._batch, self._values, self._began = begin_epoch, 0, {}, time.monotonic()

    def __call__(self, event):
        if event["event"] == "update":
            self._epoch = self._begin + math.ceil(event["epoch"]) - 1
            self._values = event
            for callback in self._batch_end:
                callback(BatchEndParam(self._epoch, self._batch, self, {}))
            self._batch += 1
            if event["epoch"].is_integer():
                self._end_epoch()
        elif event["event"] == "valid":
            self._validated(event)

    def get_name_value(self):
        """Metrics of the epoch so far."""
        return [(metric.name, self._values[metric.compiled]) for metric in self._training
                if metric.compiled in self._values]

    def get(self):
        return [name for name, _ in self.get_name_value()], [value
                                                             for _, value in self.get_name_value()]

    def reset(self):
        """Does nothing: the metrics restart with each epoch."""

    reset_local = reset

    def _end_epoch(self):
        log = self._module.logger
        for name, value in self.get_name_value():
            log.info("Epoch[%d] Train-%s=%f", self._epoch, name, value)
        log.info("Epoch[%d] Time cost=%.3f", self._epoch, time.monotonic() - self._began)
        self._batch, self._began = 0, time.monotonic()
        if self._epoch_end:
            weights = self._module.get_params()
            for callback in self._epoch_end:
                callback(self._epoch, self._module.symbol, *weights)
        if self._eval_data is not None and self._module.validates:
            self._validated({})

    def _validated(self, event):
        rest = [metric for metric in self._validating if metric.compiled not in event]
        for metric in rest:
            metric.reset()
        if rest:
            self._module.measure(self._eval_data, rest)
        for metric in self._validating:
            name, value = ((metric.name, event[metric.compiled]) if metric.compiled in event
                           else metric.get())
            self._module.logger.info("Epoch[%d] Validation-%s=%f", self._epoch, name, value)
        for callback in self._eval_end:
            callback(BatchEndParam(self._epoch, 0, self, {}))
