"""Why a claim keeps its verdict on a system broken on purpose, where it reads what was broken and still keeps it.

`odesys verify --mutations` runs every such pair; a pair without a reason here fails the command, and so does a reason
for a pair that is noticed after all.
"""

from __future__ import annotations

SIGN = (
    "the sign of a neuron's coefficient is that of y a_i where its own class alone drives it, for every network here; "
    "what is broken changes sizes and times"
)
COPIES = (
    "copies of both samples make the step of one of each, on every system, so that no power of B occurs; of a run only a "
    "number that is not zero is read"
)
SPEED = (
    "while the margins of both samples agree, which they do up to the scatter of starts, the slope of an exponential loss "
    "is one factor of all rates: the same path at another speed"
)
OTHER_START = (
    "features of half the size are another start, trained by the same steps, with errors of half their length, beyond Assumption 1 for "
    "values; the direction or power that is measured is the same there"
)
OUTPUT = "w'v is read at a given output, which it makes up: from where and how fast neurons get there does not enter"

OPEN_SIGN = "the sign at alpha_# = 0.4 is left open on every system, and that decides the whole where keys grow at alpha_# = 1/20"
FASTER = (
    "with sqrt 2 u in place of neurons w that move twice as fast, u and the values move by the printed gradients, all rates times sqrt 2: the paper's system "
    "with another margin and start"
)

#: mutations, claims, and why these keep their verdict under those
REASONS = (
    (
        "minority weight scale linear hinge tokens",
        "Eq.21",
        "the step is minus eta times the gradient of the loss at hand, for every model, loss and data",
    ),
    (
        "minority weight scale linear hinge tokens",
        "X3",
        "C and G are derivatives of the loss at hand, and the matrix equations hold for every model, loss and data",
    ),
    (
        "minority weight scale linear hinge tokens flip",
        "X4 Beyond.heads Beyond.noisy",
        "the matrices are conserved for every model, loss and data, and with keys and queries both reversed",
    ),
    ("linear", "X5", "with all gates open a neuron without ReLU moves in the same way"),
    (
        "minority scale linear hinge tokens flip keys values neurons nuisance",
        "X6",
        "both classes are broken alike, so their exchange is still a symmetry",
    ),
    (
        "weight flip keys values neurons nuisance",
        "Eq.83-hinge",
        "every rate stays linear in the two indicators, whatever factor it has",
    ),
    (
        "minority weight scale linear tokens flip keys values neurons nuisance",
        "Beyond.freeze",
        "the hinge has no slope behind its margin, whatever drives the system up to it",
    ),
    ("hinge", "Eq.33", "both outputs are zero at this start, where the exponential has the slope of the hinge"),
    (
        "minority",
        "Eq.149-150 Eq.49-50",
        "labels and output weights exchange their roles: times, norms and attention stay, the signs are noticed elsewhere",
    ),
    ("minority weight scale linear hinge tokens flip keys neurons nuisance start", "Eq.92", COPIES),
    ("start", "Eq.31 Eq.32 Eq.94-98", SIGN),
    ("hinge", "Def.2 Eq.55-59 Eq.109-113 Eq.133-135 Beyond.sliding", SPEED),
    (
        "weight scale keys nuisance",
        "Eq.117-120",
        f"{COPIES}; along p_1 neurons are driven by values of their own pattern, which this leaves alone",
    ),
    (
        "start",
        "Rem.2 Rem.2-noise Rem.2-scale Eq.11 Eq.28-29 Eq.47-48 Prop.2-pruning Beyond.condition",
        OTHER_START,
    ),
    (
        "scale linear hinge neurons nuisance",
        "Prop.2-pruning",
        "'highlighted' has no measure, so that the whole is undecided on every system where label-relevant tokens still gain attention",
    ),
    (
        "hinge",
        "Eq.49-50",
        OPEN_SIGN,
    ),
    ("neurons", "Eq.162-170", f"{OPEN_SIGN}; {FASTER}, which changes no sign of K"),
    ("start", "Eq.162-170", f"{OPEN_SIGN}; {OTHER_START}"),
    (
        "nuisance",
        "Eq.162-170",
        f"{OPEN_SIGN}; K is the covariance of w'v under attention, and nuisance values that move away from the neurons make it larger",
    ),
    (
        "weight scale linear hinge keys neurons nuisance start tokens",
        "Eq.149-150",
        "p_n(0) is of the order alpha before anything moves: that part is algebra and decides the whole",
    ),
    ("neurons start", "Eq.55-59 Eq.133-135", OUTPUT),
)
