r"""Gradients of the networks of shallow_vit by hand, as an oracle: nothing of the language is used.

.. math::
    \nabla W_O = \sum_n g^n\sum_l \Phi^n_{\cdot l}V_l^{n\top},\quad
    \nabla W_V = \sum_n g^n\sum_l W_O^\top\Phi^n_{\cdot l}\sum_s A^n_{sl}x_s^{n\top},\quad
    \nabla W_Q = \sum_n g^n\sum_{l,s}\Sigma^n_{sl}W_Kx_s^nx_l^{n\top},\quad
    \nabla W_K = \sum_n g^n\sum_{l,s}\Sigma^n_{sl}W_Qx_l^nx_s^{n\top},

with :math:`\Phi_{il} = a_{(l)i}\mathbb 1[h_{il}>0]/|S|`, :math:`e_{sl} = \Phi_{\cdot l}^\top W_OW_Vx_s`,
:math:`\Sigma_{sl} = A_{sl}(e_{sl} - \sum_rA_{rl}e_{rl})` and :math:`g^n = -y^n\mathbb 1[y^nF^n<\Gamma]/B`.
"""

import numpy as np

from derivations.shallow_vit.special import class_network, network


def by_counts(state, data, margin, rules):
    """C and G of the mean loss on noiseless tokens."""
    found = class_network.forward(state, data, rules)
    active = data.y * rules.pull(found.margins, margin) / len(data.y)
    D = (active[:, None] * data.fractions)[:, :, None] * ((found.h > 0) * state.a)
    N, M, m = D.shape
    C = D.reshape(N * M, m).T @ found.A.transpose(0, 2, 1).reshape(N * M, M)
    g = (D.reshape(N * M, m) @ state.u).reshape(N, M, M).transpose(0, 2, 1)  # g[n, j, k]
    G = (found.A * (g - (found.A * g).sum(axis=1, keepdims=True))).sum(axis=0)
    return C, rules.scale * G


def by_tokens(net, data, margin, rules):
    """Gradients of the mean loss by each weight."""
    found = network.forward(net, data, rules)
    g = -data.y * rules.pull(found.margins, margin) / len(data.y)
    phi = (g[:, None] * found.share)[:, :, None] * ((found.h > 0) * net.a)  # g^n Phi^n_il as (n, l, i)
    back = phi @ net.W_O  # (n, l, m_a)
    values = data.X @ net.W_V.T
    e = np.einsum("nla,nsa->nsl", back, values)
    sigma = rules.scale * found.A * (e - (found.A * e).sum(axis=1, keepdims=True))
    mixed = np.einsum("nsl,nsd->nld", found.A, data.X)
    keys, queries = data.X @ net.W_K.T, data.X @ net.W_Q.T
    return {
        "W_O": np.einsum("nli,nla->ia", phi, found.V),
        "W_V": np.einsum("nla,nld->ad", back, mixed),
        "W_K": np.einsum("nsl,nlb,nsd->bd", sigma, queries, data.X),
        "W_Q": np.einsum("nsl,nsb,nld->bd", sigma, keys, data.X),
    }
