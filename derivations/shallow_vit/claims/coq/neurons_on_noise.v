From Odesys Require Import sequences lengths.

(* a neuron w and an error z with d entries, z at most sigma + tau long (54) *)
Theorem neuron_on_an_error : forall (d : nat) (w z : nat -> R) (sigma tau : R),
  norm d z <= longest sigma tau -> Rabs (inner d w z) <= longest sigma tau * norm d w.
Proof.
  intros d w z sigma tau H. assert (C := cauchy_schwarz d w z). assert (N := norm_not_negative d w).
  eapply Rle_trans; [ exact C | ]. rewrite Rmult_comm. apply Rmult_le_compat_r; assumption.
Qed.
