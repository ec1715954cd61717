From Coq Require Import Lia.
From Odesys Require Import sequences.

(* b runs from 1 to T; p is between p(0) and 1 *)
Lemma telescope : forall o x, 0 <= x -> (x + 1) ^ S o - x ^ S o <= INR (S o) * (x + 1) ^ o.
Proof.
  induction o as [|o E]; intros x X; [ simpl; lra | ].
  assert (H := E x X). assert (P : x ^ S o <= (x + 1) ^ S o) by (apply pow_incr; lra). rewrite (S_INR (S o)).
  change ((x + 1) ^ S (S o)) with ((x + 1) * (x + 1) ^ S o). change (x ^ S (S o)) with (x * x ^ S o).
  change ((x + 1) ^ S o) with ((x + 1) * (x + 1) ^ o) in *. nra.
Qed.

Theorem sum_of_powers : forall (T o_1 o_2 : nat) (p : nat -> R),
  0 < p 0%nat -> (forall b, p 0%nat <= p b <= 1) ->
  constant (INR o_1) * p 0%nat ^ o_2 * (INR T ^ S o_1 * p T ^ o_2) <=
  total T (fun k => INR (S k) ^ o_1 * p (S k) ^ o_2).
Proof.
  intros T o_1 o_2 p P range.
  assert (A : forall n, INR n ^ S o_1 <= INR (S o_1) * total n (fun k => INR (S k) ^ o_1)).
  { induction n as [|n E]; [ simpl; lra | ]. assert (H := telescope o_1 (INR n) (pos_INR n)).
    change (total (S n) (fun k => INR (S k) ^ o_1)) with (total n (fun k => INR (S k) ^ o_1) + INR (S n) ^ o_1).
    rewrite (S_INR n). lra. }
  assert (B : p 0%nat ^ o_2 * total T (fun k => INR (S k) ^ o_1) <= total T (fun k => INR (S k) ^ o_1 * p (S k) ^ o_2)).
  { rewrite <- total_scaled. apply total_at_most. intros k K. rewrite Rmult_comm. apply Rmult_le_compat_l.
    - apply pow_le, pos_INR.
    - apply pow_incr. destruct (range (S k)); lra. }
  assert (N : 0 < INR o_1 + 1) by (assert (X := pos_INR o_1); lra).
  assert (C : constant (INR o_1) * (INR o_1 + 1) = 1) by (unfold constant; field; lra).
  assert (D : 0 <= p T ^ o_2 <= 1).
  { destruct (range T). split; [ apply pow_le; lra | rewrite <- (pow1 o_2); apply pow_incr; lra ]. }
  assert (Q : 0 < p 0%nat ^ o_2) by (apply pow_lt, P). assert (H := A T). rewrite S_INR in H.
  assert (Z : 0 <= INR T ^ S o_1) by (apply pow_le, pos_INR).
  set (s := total T (fun k => INR (S k) ^ o_1)) in *. set (c := constant (INR o_1)) in *. set (y := INR T ^ S o_1) in *.
  set (x := p 0%nat ^ o_2) in *. set (z := p T ^ o_2) in *.
  assert (c0 : 0 < c) by (apply Rmult_lt_reg_r with (INR o_1 + 1); lra).
  assert (c1 : c * y <= s) by (apply Rmult_le_compat_l with (r := c) in H; [ | lra ]; replace (c * ((INR o_1 + 1) * s)) with (c * (INR o_1 + 1) * s) in H by ring; rewrite C in H; lra).
  apply Rle_trans with (x * s); [ | exact B ].
  apply Rle_trans with (x * (c * y)); [ | apply Rmult_le_compat_l; lra ].
  replace (c * x * (y * z)) with (x * (c * y) * z) by ring. assert (0 <= x * (c * y)) by (apply Rmult_le_pos; [ lra | apply Rmult_le_pos; lra ]). nra.
Qed.
