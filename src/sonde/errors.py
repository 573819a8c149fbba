"""Every error that sonde raises on purpose.

    SondeError
    ├── InputError          what the user gave cannot be used (also a ValueError)
    │   ├── GraphError      a graph file or graph object: names the file and the row
    │   └── SpecError       an estimator, strategy, objective or budget that cannot be read
    ├── LeaseError          a lease was settled twice, or was never given out
    ├── ObjectiveError      an objective decreased: it is not monotone
    ├── EstimatorError      a custom estimator broke its contract
    ├── SourceError         a source broke its contract
    ├── StoreError          a run folder cannot be written: the disk is full, a file is damaged
    ├── ResourceError       the system gives no more of something: open files
    └── UncompiledError     uncompiled kernels need a package that is missing (also an ImportError)

The command line prints an ``InputError`` as one line and exits with status 2.
"""

from __future__ import annotations


class SondeError(Exception):
    """The root of the tree."""


class InputError(SondeError, ValueError):
    """What the user gave cannot be used; the message says what and where."""


class GraphError(InputError):
    """A graph file or graph object is malformed."""


class SpecError(InputError):
    """The text of an estimator, a strategy, an objective or a budget cannot be read."""


class LeaseError(SondeError):
    """A lease was settled twice, or does not belong to this explorer."""


class ObjectiveError(SondeError):
    """An objective returned a negative gain: it is not monotone."""


class EstimatorError(SondeError):
    """A custom estimator broke its contract."""


class SourceError(SondeError):
    """A source broke its contract."""


class StoreError(SondeError):
    """A run folder cannot be written; what was reported settled is safe."""


class ResourceError(SondeError):
    """The system gives no more of what every request needs. Raised for a request, it says that the
    one which was taken last has not left."""


class UncompiledError(SondeError, ImportError):
    """The kernels were not compiled, and what they need then is not installed."""
