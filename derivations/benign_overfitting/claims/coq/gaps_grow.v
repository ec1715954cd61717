From Odesys Require Import sequences.

(* Psi s is the gap s steps after T_1; by (152)-(156) a step is at least 2 C_7 f s e^(-Psi s), with f the common factor *)
Theorem gaps : forall (Psi : nat -> R) (C_7 f : R), 0 < C_7 -> 0 < f ->
  (forall s, 2 * C_7 * f * INR s * exp (- Psi s) <= Psi (S s) - Psi s) ->
  forall t : nat,
  total (S t) (fun s => exp (Psi s) * (Psi (S s) - Psi s)) <= exp (Psi (S t)) - exp (Psi 0%nat) /\
  bound (INR t) C_7 f <= total (S t) (fun s => exp (Psi s) * (Psi (S s) - Psi s)) /\
  ln (exp (Psi 0%nat) + bound (INR t) C_7 f) <= Psi (S t).
Proof.
  intros Psi C_7 f C F step.
  assert (A : forall t, total t (fun s => exp (Psi s) * (Psi (S s) - Psi s)) <= exp (Psi t) - exp (Psi 0%nat)).
  { induction t as [|t E]; simpl; [ lra | ].
    assert (G := exp_at_least (Psi (S t) - Psi t)). assert (P := exp_pos (Psi t)).
    assert (Q : exp (Psi (S t)) = exp (Psi t) * exp (Psi (S t) - Psi t)) by (rewrite <- exp_plus; f_equal; ring).
    rewrite Q. nra. }
  assert (B : forall t, bound (INR t) C_7 f <= total (S t) (fun s => exp (Psi s) * (Psi (S s) - Psi s))).
  { assert (one : forall s, 2 * C_7 * f * INR s <= exp (Psi s) * (Psi (S s) - Psi s)).
    { intro s. assert (P := exp_pos (Psi s)). assert (H := step s). rewrite exp_Ropp in H.
      apply Rmult_le_compat_l with (r := exp (Psi s)) in H; [ | lra ].
      replace (exp (Psi s) * (2 * C_7 * f * INR s * / exp (Psi s))) with (2 * C_7 * f * INR s) in H by (field; lra). exact H. }
    induction t as [|t E].
    - unfold bound. simpl. assert (H := one 0%nat). simpl in H. nra.
    - change (total (S (S t)) (fun s => exp (Psi s) * (Psi (S s) - Psi s))) with
        (total (S t) (fun s => exp (Psi s) * (Psi (S s) - Psi s)) + exp (Psi (S t)) * (Psi (S (S t)) - Psi (S t))).
      assert (H := one (S t)). unfold bound in *. rewrite S_INR in *. nra. }
  intro t. repeat split; [ apply A | apply B | ].
  assert (H := Rle_trans _ _ _ (B t) (A (S t))). assert (P := exp_pos (Psi 0%nat)). assert (N := pos_INR t).
  assert (K : 0 <= bound (INR t) C_7 f) by (unfold bound; nonneg).
  rewrite <- (ln_exp (Psi (S t))). assert (L : exp (Psi 0%nat) + bound (INR t) C_7 f <= exp (Psi (S t))) by lra.
  destruct L as [L|L]; [ apply Rlt_le, ln_increasing; lra | rewrite L; lra ].
Qed.
