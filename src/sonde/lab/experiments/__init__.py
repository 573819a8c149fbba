"""Published experiments, and the comparison of estimators that is their everyday form.

``experiment`` says what an experiment is and conducts it; ``steering``, ``precision`` and ``lead``
are the published ones, ``compare`` the everyday form. Each module has functions that make an
``Experiment`` and others that make a ``Report`` of its ``Results``.
"""
