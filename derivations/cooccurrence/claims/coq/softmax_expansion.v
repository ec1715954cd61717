From Coq Require Import Lia.
From Coquelicot Require Import Coquelicot.
From Odesys Require Import sequences.

(* softmax over l scores s, along s + t e; first and second are its derivatives, with Z the sum of exp(s_k + t e_k) and
   Z1, Z2 the sums of e_k exp(s_k + t e_k) and of e_k^2 exp(s_k + t e_k) *)
Lemma total_term : forall n f i, (i < n)%nat -> (forall k, (k < n)%nat -> 0 <= f k) -> f i <= total n f.
Proof.
  induction n as [|n E]; intros f i I H; [ lia | simpl ].
  assert (0 <= total n f).
  { replace 0 with (total n (fun _ => 0)) by (rewrite total_constant; ring). apply total_at_most. intros; apply H; lia. }
  destruct (Nat.eq_dec i n) as [->|D]; [ lra | ].
  assert (f i <= total n f) by (apply E; [ lia | intros; apply H; lia ]). assert (0 <= f n) by (apply H; lia). lra.
Qed.

Lemma derive_total : forall n (f g : nat -> R -> R) x, (forall k, (k < n)%nat -> is_derive (f k) x (g k x)) ->
  is_derive (fun t => total n (fun k => f k t)) x (total n (fun k => g k x)).
Proof.
  induction n as [|n E]; intros f g x H; simpl; [ apply (is_derive_const 0 x) | ].
  apply (is_derive_plus (fun t => total n (fun k => f k t)) (f n)); [ apply E; intros; apply H; lia | apply H; lia ].
Qed.

Section softmax.
Variables (l : nat) (s e : nat -> R) (i : nat).
Hypothesis I : (i < l)%nat.
Definition weight (k : nat) (t : R) : R := exp (s k + t * e k).
Definition Z (t : R) : R := total l (fun k => weight k t).
Definition Z1 (t : R) : R := total l (fun k => e k * weight k t).
Definition Z2 (t : R) : R := total l (fun k => e k ^ 2 * weight k t).
Definition size : R := total l (fun k => e k ^ 2).
Definition p (k : nat) (t : R) : R := weight k t / Z t.

Lemma weight_positive : forall k t, 0 < weight k t.
Proof. intros; apply exp_pos. Qed.

Lemma weight_at_most : forall k t, (k < l)%nat -> weight k t <= Z t.
Proof. intros k t K. apply (total_term l (fun k => weight k t)); [ exact K | intros; apply Rlt_le, weight_positive ]. Qed.

Lemma Z_positive : forall t, 0 < Z t.
Proof. intro t. assert (A := weight_at_most i t I). assert (B := weight_positive i t). lra. Qed.

Lemma derive_weight : forall k t, is_derive (weight k) t (e k * weight k t).
Proof. intros k t. unfold weight. auto_derive; [ exact Logic.I | ring ]. Qed.

Lemma derive_Z : forall t, is_derive Z t (Z1 t).
Proof. intro t. apply (derive_total l weight (fun k t => e k * weight k t)). intros; apply derive_weight. Qed.

Lemma derive_Z1 : forall t, is_derive Z1 t (Z2 t).
Proof.
  intro t. apply (derive_total l (fun k t => e k * weight k t) (fun k t => e k ^ 2 * weight k t)).
  intros k K. replace (e k ^ 2 * weight k t) with (e k * (e k * weight k t)) by ring.
  apply (is_derive_scal (weight k) t (e k)), derive_weight.
Qed.

Theorem first_derivative : forall t : R, is_derive (p i) t (first (s i) t (e i) (Z t) (Z1 t)).
Proof.
  intro t. assert (P := Z_positive t).
  assert (D := is_derive_div (weight i) Z t _ _ (derive_weight i t) (derive_Z t) ltac:(lra)).
  eapply is_derive_ext; [ intro; reflexivity | ].
  replace (first (s i) t (e i) (Z t) (Z1 t)) with ((e i * weight i t * Z t - weight i t * Z1 t) / Z t ^ 2); [ exact D | ].
  unfold first, weight. replace (t * e i) with (e i * t) by ring. field. lra.
Qed.

Theorem second_derivative : forall t : R,
  is_derive (fun t => first (s i) t (e i) (Z t) (Z1 t)) t (second (s i) t (e i) (Z t) (Z1 t) (Z2 t)).
Proof.
  intro t. assert (P := Z_positive t). assert (A := derive_weight i t). assert (B := derive_Z t). assert (C := derive_Z1 t).
  apply is_derive_ext with (fun t => e i * weight i t / Z t - weight i t * Z1 t / (Z t * Z t)).
  - intro u. match goal with |- ?x = ?y => change (@eq R x y) end.
    assert (U := Z_positive u). unfold first, weight. replace (u * e i) with (e i * u) by ring. field. lra.
  - auto_derive.
    + repeat split; try (eexists; eassumption); try lra; nra.
    + assert (HA : Derive (fun x : R => weight i x) t = e i * weight i t) by (apply is_derive_unique; exact A).
      assert (HB : Derive (fun x : R => Z x) t = Z1 t) by (apply is_derive_unique; exact B).
      assert (HC : Derive (fun x : R => Z1 x) t = Z2 t) by (apply is_derive_unique; exact C). rewrite HA, HB, HC.
      unfold second, weight. replace (t * e i) with (e i * t) by ring. field. lra.
Qed.

Lemma second_is_bounded : forall t, Rabs (second (s i) t (e i) (Z t) (Z1 t) (Z2 t)) <= size.
Proof.
  intro t. assert (P := Z_positive t). assert (W := weight_positive i t). assert (H := weight_at_most i t I).
  set (m := Z1 t / Z t).
  assert (V : total l (fun k => weight k t * (e k - m) ^ 2) = Z2 t - m ^ 2 * Z t).
  { transitivity (Z2 t + (-2 * m) * Z1 t + m ^ 2 * Z t).
    - unfold Z2, Z1, Z. rewrite <- !total_scaled, <- !total_plus. apply total_equal. intros; ring.
    - unfold m. field. lra. }
  assert (T : weight i t * (e i - m) ^ 2 <= Z2 t - m ^ 2 * Z t).
  { rewrite <- V. apply (total_term l (fun k => weight k t * (e k - m) ^ 2)); [ exact I | ].
    intros k K. apply Rmult_le_pos; [ apply Rlt_le, weight_positive | apply pow2_ge_0 ]. }
  assert (S : Z2 t <= size * Z t).
  { unfold Z2, size. rewrite Rmult_comm, <- total_scaled. apply total_at_most. intros k K.
    assert (A := weight_at_most k t K). assert (B := pow2_ge_0 (e k)). nra. }
  assert (F : second (s i) t (e i) (Z t) (Z1 t) (Z2 t) = weight i t / Z t * ((e i - m) ^ 2 - (Z2 t / Z t - m ^ 2))).
  { unfold second, weight, m. replace (t * e i) with (e i * t) by ring. field. lra. }
  rewrite F. set (q := weight i t / Z t).
  assert (Q : 0 < q <= 1).
  { unfold q, Rdiv. split; [ apply Rmult_lt_0_compat; [ exact W | apply Rinv_0_lt_compat, P ] | ].
    apply Rmult_le_reg_r with (Z t); [ exact P | rewrite Rmult_assoc, Rinv_l by lra; lra ]. }
  assert (X : q * (e i - m) ^ 2 <= Z2 t / Z t - m ^ 2).
  { apply Rmult_le_reg_r with (Z t); [ exact P | ].
    replace (q * (e i - m) ^ 2 * Z t) with (weight i t * (e i - m) ^ 2) by (unfold q; field; lra).
    replace ((Z2 t / Z t - m ^ 2) * Z t) with (Z2 t - m ^ 2 * Z t) by (field; lra). exact T. }
  assert (Y : Z2 t / Z t <= size).
  { apply Rmult_le_reg_r with (Z t); [ exact P | ]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (0 <= (e i - m) ^ 2) by apply pow2_ge_0. assert (0 <= m ^ 2) by apply pow2_ge_0.
  assert (0 <= Z2 t / Z t - m ^ 2) by nra.
  apply Rabs_le. split; nra.
Qed.

Lemma first_moves_slowly : forall t, 0 <= t ->
  Rabs (first (s i) t (e i) (Z t) (Z1 t) - first (s i) 0 (e i) (Z 0) (Z1 0)) <= size * t.
Proof.
  intros t T. set (f := fun t => first (s i) t (e i) (Z t) (Z1 t)). fold (f t) (f 0).
  destruct (MVT_gen f 0 t (fun t => second (s i) t (e i) (Z t) (Z1 t) (Z2 t))) as [c [_ H]].
  - intros; apply second_derivative.
  - intros. apply derivable_continuous_pt. eexists. apply is_derive_Reals, second_derivative.
  - rewrite H, Rminus_0_r, Rabs_mult, (Rabs_right t) by lra. apply Rmult_le_compat_r; [ exact T | apply second_is_bounded ].
Qed.

Definition jacobian (k : nat) : R := (if Nat.eqb i k then p i 0 else 0) - p i 0 * p k 0.

Lemma jacobian_along : total l (fun k => jacobian k * e k) = first (s i) 0 (e i) (Z 0) (Z1 0).
Proof.
  assert (P := Z_positive 0).
  assert (A : forall n, (i < n)%nat -> total n (fun k => (if Nat.eqb i k then p i 0 else 0) * e k) = p i 0 * e i).
  { assert (O : forall n, (n <= i)%nat -> total n (fun k => (if Nat.eqb i k then p i 0 else 0) * e k) = 0).
    { induction n as [|n E]; intro L; simpl; [ reflexivity | ]. rewrite E by lia.
      destruct (Nat.eqb_spec i n); [ lia | ring ]. }
    induction n as [|n E]; intro L; [ lia | simpl ]. destruct (Nat.eqb_spec i n) as [D|D].
    - rewrite O by lia. subst n. ring.
    - rewrite E by lia. ring. }
  transitivity (p i 0 * e i + - (p i 0 / Z 0) * Z1 0).
  - rewrite <- (A l I). unfold Z1. rewrite <- total_scaled, <- total_plus. apply total_equal. intros k K.
    unfold jacobian. replace (p k 0) with (weight k 0 / Z 0) by reflexivity. field. lra.
  - unfold first, p, weight. replace (0 * e i) with (e i * 0) by ring. field. lra.
Qed.

(* p(s + e) - p(s) = J e + zeta with |zeta_i| <= |e|^2 for every i: the constant of O is 1 *)
Theorem remainder : Rabs (p i 1 - p i 0 - total l (fun k => jacobian k * e k)) <= size.
Proof.
  rewrite jacobian_along. set (d := first (s i) 0 (e i) (Z 0) (Z1 0)).
  set (g := fun t => first (s i) t (e i) (Z t) (Z1 t)).
  assert (M : 0 <= size).
  { unfold size. replace 0 with (total l (fun _ => 0)) by (rewrite total_constant; ring).
    apply total_at_most. intros; apply pow2_ge_0. }
  assert (K : forall sign, (sign = 1 \/ sign = -1) -> sign * (p i 1 - p i 0 - d) <= size).
  { intros sign HS. set (h := fun t => sign * (p i t - t * d) - size / 2 * t ^ 2).
    assert (D : forall t, is_derive h t (sign * (g t - d) - size * t)).
    { intro t. unfold h. apply (is_derive_ext (fun t => sign * (p i t - t * d) - size / 2 * t ^ 2)); [ reflexivity | ].
      assert (F := first_derivative t). fold (g t) in F.
      auto_derive; [ repeat split; exact (ex_intro _ _ F) | ].
      assert (HF : Derive (fun x : R => p i x) t = g t) by (apply is_derive_unique; exact F). rewrite HF. field. }
    destruct (MVT_gen h 0 1 (fun t => sign * (g t - d) - size * t)) as [c [C H]].
    - intros; apply D.
    - intros. apply derivable_continuous_pt. eexists. apply is_derive_Reals, D.
    - rewrite Rmin_left, Rmax_right in C by lra. assert (B := within _ _ (first_moves_slowly c ltac:(lra))).
      fold (g c) in B. unfold h in H. fold d in B. destruct HS; subst sign; nra. }
  assert (A := K 1 (or_introl eq_refl)). assert (B := K (-1) (or_intror eq_refl)). apply Rabs_le. lra.
Qed.
End softmax.
