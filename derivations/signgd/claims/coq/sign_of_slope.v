From Coquelicot Require Import Coquelicot.

Definition loss (z : R) : R := ln (1 + exp (- z)).

(* slope, as the engine has it, is the derivative of the loss by the margin *)
Theorem slope_is_the_derivative : forall f, is_derive loss f (slope f).
Proof.
  intro f. assert (P := exp_pos (- f)). unfold loss. auto_derive; [ lra | ]. unfold slope, sigmoid. rewrite ?Ropp_involutive.
  assert (Q := exp_pos f). rewrite exp_Ropp in *. field. lra.
Qed.

(* at every margin it is more than 1/2 away from 1/2, so that it is not 1/2 +- o(1) *)
Theorem never_near_one_half : forall f, slope f < 0 /\ / 2 < Rabs (slope f - / 2).
Proof.
  intro f. assert (N : slope f < 0) by (apply Ropp_lt_cancel; rewrite Ropp_0; unfold slope, sigmoid; rewrite ?Ropp_involutive; pos).
  split; [ exact N | ]. rewrite Rabs_left by lra. lra.
Qed.
