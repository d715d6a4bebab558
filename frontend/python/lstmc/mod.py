"""MXNet's `mx.mod`."""

from .bucketing import BucketingModule
from .module import Module
