"""The claim book of the paper."""

from __future__ import annotations

from odesys.claims import ClaimBook

from ..laboratory import MUTATIONS, Laboratory

book = ClaimBook("cooccurrence", Laboratory, mutations=MUTATIONS,
                 reference="Training Dynamics of Transformers to Recognize Word Co-occurrence via Gradient Flow Analysis")
