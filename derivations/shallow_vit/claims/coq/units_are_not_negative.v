From Odesys Require Import sequences lengths matrices.

(* (57): n neurons with output weights a_i that are not negative, at any inputs h_i *)
Theorem rest_is_not_negative : forall (n : nat) (a h : nat -> R), (forall i, 0 <= a i) -> 0 <= total n (fun i => unit (a i) (h i)).
Proof.
  intros n a h A. apply total_not_negative. intros i _. replace (unit (a i) (h i)) with (a i * (h i * step (h i))) by (unfold unit; ring).
  apply Rmult_le_pos; [ apply A | ]. unfold step. destruct (Rlt_dec 0 (h i)); lra.
Qed.
