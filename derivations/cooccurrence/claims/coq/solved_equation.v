From Coquelicot Require Import Coquelicot.

(* the chain rule of the second line: d/dt (C_1 t - 1/loss + C_2) *)
Theorem derivative_of_the_bracket : forall loss (rate : R) C1 C2 t, is_derive loss t rate -> 0 < loss t ->
  is_derive (fun s => C1 * s - / loss s + C2) t (chain C1 (loss t) rate).
Proof.
  intros loss rate C1 C2 t D P. unfold chain. auto_derive.
  - split; [ exists rate; exact D | split; [ lra | exact I ] ].
  - match goal with |- context [Derive ?h t] => replace (Derive h t) with rate by (symmetry; apply is_derive_unique, D) end. field. lra.
Qed.

(* on [T_1, T_2]: the bracket is constant, and the loss is the printed curve, with C_2 = 1/loss(T_1) - C_1 T_1 *)
Theorem solved : forall loss C1 T1 T2, (forall t, T1 <= t <= T2 -> 0 < loss t /\ is_derive loss t (- C1 * loss t ^ 2)) ->
  forall t, T1 <= t <= T2 -> (forall C2, is_derive (fun s => C1 * s - / loss s + C2) t 0) /\ loss t = curve C1 (/ loss T1 - C1 * T1) t.
Proof.
  intros loss C1 T1 T2 equation t between.
  assert (still : forall C2 s, T1 <= s <= T2 -> is_derive (fun s => C1 * s - / loss s + C2) s 0).
  { intros C2 s S. destruct (equation s S) as [P D].
    replace 0 with (chain C1 (loss s) (- C1 * loss s ^ 2)) by (unfold chain; field; lra). apply derivative_of_the_bracket; assumption. }
  split; [ intro C2; apply still, between | ].
  destruct (MVT_gen (fun s => C1 * s - / loss s + 0) T1 t (fun _ => 0)) as (z & _ & E).
  - intros x X. rewrite Rmin_left, Rmax_right in X by lra. apply still. lra.
  - intros x X. rewrite Rmin_left, Rmax_right in X by lra. apply derivable_continuous_pt. exists 0. apply is_derive_Reals, still. lra.
  - rewrite Rmult_0_l in E. destruct (equation t between) as [P _]. unfold curve.
    assert (F : / loss t = C1 * t + (/ loss T1 - C1 * T1)) by lra.
    match goal with |- _ = ?right => replace right with (/ (C1 * t + (/ loss T1 - C1 * T1))) by (f_equal; ring) end.
    rewrite <- F. rewrite Rinv_inv. reflexivity.
Qed.

(* the curve solves the equation *)
Theorem curve_solves : forall C1 C2 t, 0 < C1 * t + C2 -> is_derive (curve C1 C2) t (- C1 * curve C1 C2 t ^ 2).
Proof. intros C1 C2 t P. unfold curve. auto_derive; [ lra | field; lra ]. Qed.
