(* One layer of softmax attention with ReLU units: how its output changes with the weights, and with one token.
   Nothing is assumed here. *)
From Coq Require Import Reals Lra Lia Psatz.
From Odesys Require Import prelude sequences lengths matrices attention.
Open Scope R_scope.

Lemma relu_apart : forall a b, Rabs (relu a - relu b) <= Rabs (a - b).
Proof.
  intros a b. unfold relu, step. destruct (Rlt_dec 0 a), (Rlt_dec 0 b); rewrite ?Rmult_1_l, ?Rmult_0_l; unfold Rabs;
    repeat match goal with |- context [Rcase_abs ?x] => destruct (Rcase_abs x) end; lra.
Qed.

Lemma total_minus : forall n f g, total n (fun k => f k - g k) = total n f - total n g.
Proof. induction n as [|n E]; intros f g; simpl; [ ring | rewrite E; ring ]. Qed.

Lemma inner_minus : forall e u a b, inner e u (fun k => a k - b k) = inner e u a - inner e u b.
Proof. intros. unfold inner. rewrite <- total_minus. apply total_equal; intros; ring. Qed.

Lemma inner_minus_left : forall e a b u, inner e (fun k => a k - b k) u = inner e a u - inner e b u.
Proof. intros. unfold inner. rewrite <- total_minus. apply total_equal; intros; ring. Qed.

Lemma total_single : forall n f j, (j < n)%nat -> (forall k, (k < n)%nat -> k <> j -> f k = 0) -> total n f = f j.
Proof.
  induction n as [|n E]; intros f j J H; [ lia | simpl ]. destruct (Nat.eq_dec j n) as [->|D].
  - rewrite (total_equal n f (fun _ => 0)), total_constant; [ ring | intros; apply H; lia ].
  - rewrite (E f j), (H n); [ ring | lia | lia | lia | intros; apply H; lia ].
Qed.

Section layer.
Variables d ma mb m : nat.

(* two mixed values through units and output weights *)
Lemma units_apart : forall (O : nat -> nat -> R) (o : R) (a x y : nat -> R), at_most m ma O o -> norm m a <= 1 ->
  Rabs (total m (fun i => a i * relu (inner ma (O i) x)) - total m (fun i => a i * relu (inner ma (O i) y))) <= o * norm ma (fun k => x k - y k).
Proof.
  intros O o a x y H A. rewrite <- total_minus.
  rewrite (total_equal m _ (fun i => a i * (relu (inner ma (O i) x) - relu (inner ma (O i) y)))) by (intros; ring).
  eapply Rle_trans; [ apply (cauchy_schwarz m a (fun i => relu (inner ma (O i) x) - relu (inner ma (O i) y))) | ].
  assert (B : norm m (fun i => relu (inner ma (O i) x) - relu (inner ma (O i) y)) <= o * norm ma (fun k => x k - y k)).
  { eapply Rle_trans; [ | apply H ]. apply norm_below. intros i _. eapply Rle_trans; [ apply relu_apart | ].
    unfold apply. rewrite inner_minus. lra. }
  assert (N := norm_not_negative m (fun i => relu (inner ma (O i) x) - relu (inner ma (O i) y))). assert (M := norm_not_negative m a). nra.
Qed.

Lemma logit_below : forall w p k q s l, admitted d m p -> 0 <= k -> 0 <= q -> at_most mb d (WK w) k -> at_most mb d (WQ w) q ->
  (s < size p)%nat -> (l < size p)%nat -> Rabs (logit d mb w p s l) <= k * q.
Proof.
  intros w p k q s l G K Q HK HQ S1 L1. eapply Rle_trans; [ apply cauchy_schwarz | ].
  apply Rmult_le_compat; try apply norm_not_negative; eapply of_token; eauto.
Qed.

(* two samples whose tokens have the count 1 and that differ in one of them *)
Definition single (p : sample) : Prop := forall s, (s < size p)%nat -> count p s = 1.
Definition differ_in_one (p p' : sample) (j : nat) : Prop :=
  size p = size p' /\ (j < size p)%nat /\ (forall s, (s < size p)%nat -> s <> j -> token p s = token p' s) /\
  (forall l, (l < size p)%nat -> out p l = out p' l).

Section one_token.
Variables (w : weights) (p p' : sample) (j : nat) (o v k q : R).
Hypothesis (good : admitted d m p) (good' : admitted d m p') (ones : single p) (ones' : single p') (pair : differ_in_one p p' j).
Hypothesis not_negative : 0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q.
Hypothesis bounds : inside d ma mb m w o v k q.

Lemma mass_least : forall p l, admitted d m p -> single p -> (l < size p)%nat -> INR (size p) * exp (- (k * q)) <= mass d mb w p l.
Proof.
  intros r l G U L. destruct not_negative as (O & V & K & Q). destruct bounds as (_ & _ & HK & HQ). unfold mass. rewrite <- total_constant. apply total_at_most. intros s S1.
  rewrite (U s S1), Rmult_1_l. apply exp_order. assert (B := within _ _ (logit_below w r k q s l G K Q HK HQ S1 L)). lra.
Qed.

Lemma mixed_of_two : forall l, (l < size p)%nat -> l <> j ->
  norm ma (fun x => mixed d mb w p l x - mixed d mb w p' l x) <= 3 * v * exp (2 * (k * q)) / INR (size p).
Proof.
  intros l L D. destruct not_negative as (O & V & K & Q). destruct bounds as (HO & HV & HK & HQ). destruct pair as (SZ & J & same & _).
  assert (N0 : 0 < INR (size p)) by (apply lt_0_INR; lia).
  assert (M := mass_positive d mb m w p good l). assert (M' := mass_positive d mb m w p' good' l).
  assert (ML := mass_least p l good ones L).
  set (e := exp (logit d mb w p j l)). set (e' := exp (logit d mb w p' j l)).
  assert (lg : forall s, (s < size p)%nat -> s <> j -> logit d mb w p s l = logit d mb w p' s l).
  { intros s S1 S2. unfold logit, key, query. rewrite (same s S1 S2), (same l L D). reflexivity. }
  assert (be : 0 < e <= exp (k * q)) by (split; [ apply exp_pos | apply exp_order; apply (within _ _ (logit_below w p k q j l good K Q HK HQ J L)) ]).
  assert (be' : 0 < e' <= exp (k * q)).
  { split; [ apply exp_pos | apply exp_order; apply (within _ _ (logit_below w p' k q j l good' K Q HK HQ ltac:(lia) ltac:(lia))) ]. }
  assert (masses : mass d mb w p l - mass d mb w p' l = e - e').
  { unfold mass. rewrite <- SZ, <- total_minus. rewrite (total_single _ _ j J).
    - rewrite (ones j J), (ones' j) by lia. unfold e, e'. ring.
    - intros s S1 S2. rewrite (ones s S1), (ones' s), (lg s S1 S2) by lia. ring. }
  assert (sums : forall x, mass d mb w p l * mixed d mb w p l x - mass d mb w p' l * mixed d mb w p' l x = e * value d w p j x - e' * value d w p' j x).
  { intro x. unfold mixed. rewrite <- !total_scaled, <- SZ, <- total_minus. rewrite (total_single _ _ j J).
    - unfold attention. rewrite (ones j J), (ones' j) by lia. fold e e'. field. lra.
    - intros s S1 S2. unfold attention. rewrite (ones s S1), (ones' s), (lg s S1 S2) by lia. unfold value. rewrite (same s S1 S2). field. lra. }
  rewrite (norm_equal ma _ (fun x => / mass d mb w p l * (e * value d w p j x + (- e' * value d w p' j x + (e' - e) * mixed d mb w p' l x)))).
  2:{ intros x _. specialize (sums x). apply Rmult_eq_reg_l with (mass d mb w p l); [ | lra ].
      replace (mass d mb w p l * (/ mass d mb w p l * (e * value d w p j x + (- e' * value d w p' j x + (e' - e) * mixed d mb w p' l x)))) with
        (e * value d w p j x - e' * value d w p' j x + (e' - e) * mixed d mb w p' l x) by (field; lra).
      rewrite <- sums. replace (e' - e) with (mass d mb w p' l - mass d mb w p l) by lra. ring. }
  rewrite norm_scaled, (Rabs_right (/ mass d mb w p l)) by (apply Rle_ge, Rlt_le, Rinv_0_lt_compat, M).
  assert (v1 : norm ma (value d w p j) <= v) by (eapply of_token; eauto).
  assert (v2 : norm ma (value d w p' j) <= v) by (eapply of_token; eauto; lia).
  assert (v3 : norm ma (mixed d mb w p' l) <= v) by (eapply (mixed_below d ma mb m w p' good' o v k q); [ auto | repeat split; assumption ]).
  assert (top : norm ma (fun x => e * value d w p j x + (- e' * value d w p' j x + (e' - e) * mixed d mb w p' l x)) <= 3 * (exp (k * q) * v)).
  { assert (T1 := norm_triangle ma (fun x => e * value d w p j x) (fun x => - e' * value d w p' j x + (e' - e) * mixed d mb w p' l x)).
    assert (T2 := norm_triangle ma (fun x => - e' * value d w p' j x) (fun x => (e' - e) * mixed d mb w p' l x)). cbv beta in T1, T2.
    rewrite !norm_scaled, Rabs_Ropp, (Rabs_right e') in T2 by lra. rewrite norm_scaled, (Rabs_right e) in T1 by lra.
    assert (a1 : e * norm ma (value d w p j) <= exp (k * q) * v) by (apply Rmult_le_compat; try lra; apply norm_not_negative).
    assert (a2 : e' * norm ma (value d w p' j) <= exp (k * q) * v) by (apply Rmult_le_compat; try lra; apply norm_not_negative).
    assert (a3 : Rabs (e' - e) * norm ma (mixed d mb w p' l) <= exp (k * q) * v).
    { apply Rmult_le_compat; try lra; [ apply Rabs_pos | apply norm_not_negative | apply Rabs_le; lra ]. }
    lra. }
  assert (inv : / mass d mb w p l <= exp (k * q) / INR (size p)).
  { replace (exp (k * q) / INR (size p)) with (/ (INR (size p) * exp (- (k * q)))).
    - apply Rinv_le_contravar; [ apply Rmult_lt_0_compat; [ exact N0 | apply exp_pos ] | exact ML ].
    - rewrite exp_Ropp. field. split; [ lra | apply Rgt_not_eq, exp_pos ]. }
  apply Rle_trans with (exp (k * q) / INR (size p) * (3 * (exp (k * q) * v))).
  - apply Rmult_le_compat; [ apply Rlt_le, Rinv_0_lt_compat, M | apply norm_not_negative | exact inv | exact top ].
  - right. replace (2 * (k * q)) with (k * q + k * q) by ring. rewrite exp_plus. field. lra.
Qed.

Lemma one_token : Rabs (output d ma mb m w p - output d ma mb m w p') <= (3 * o * v * exp (2 * (k * q)) + 2 * (o * v)) / INR (size p).
Proof.
  destruct not_negative as (O & V & K & Q). destruct pair as (SZ & J & same & outs). assert (N0 : 0 < INR (size p)) by (apply lt_0_INR; lia).
  assert (OV : 0 <= o * v) by (apply Rmult_le_pos; assumption).
  assert (sh : forall r, single r -> forall l, (l < size r)%nat -> share r l = / INR (size r)).
  { intros r U l L. unfold share. rewrite (U l L), (total_equal (size r) (count r) (fun _ => 1)) by (intros; apply U; assumption).
    rewrite total_constant. unfold Rdiv. rewrite Rmult_1_l, Rmult_1_r. reflexivity. }
  set (g := fun r l => total m (fun i => out r l i * relu (hidden d ma mb w r l i))).
  assert (E : output d ma mb m w p - output d ma mb m w p' = / INR (size p) * total (size p) (fun l => g p l - g p' l)).
  { unfold output. rewrite <- SZ, <- total_minus, <- total_scaled. apply total_equal. intros l L.
    rewrite (sh p ones l L), (sh p' ones' l) by lia. rewrite <- SZ. unfold g. ring. }
  rewrite E, Rabs_mult, Rabs_right by (apply Rle_ge, Rlt_le, Rinv_0_lt_compat, N0).
  unfold Rdiv. rewrite (Rmult_comm (_ + _)). apply Rmult_le_compat_l; [ apply Rlt_le, Rinv_0_lt_compat, N0 | ].
  eapply Rle_trans; [ apply total_abs | ].
  set (far := 3 * o * v * exp (2 * (k * q)) / INR (size p)).
  assert (far0 : 0 <= far).
  { unfold far, Rdiv. apply Rmult_le_pos; [ | apply Rlt_le, Rinv_0_lt_compat, N0 ]. assert (X := exp_pos (2 * (k * q))). assert (Z : 0 <= 3 * o * v) by lra. apply Rmult_le_pos; lra. }
  assert (gl : forall r l, admitted d m r -> (l < size r)%nat -> Rabs (g r l) <= o * v).
  { intros r l G L. unfold g. eapply Rle_trans; [ apply (cauchy_schwarz m (out r l) (fun i => relu (hidden d ma mb w r l i))) | ].
    assert (A : norm m (fun i => relu (hidden d ma mb w r l i)) <= o * v).
    { apply Rle_trans with (norm m (apply ma (WO w) (mixed d mb w r l))).
      - apply norm_below. intros i _. apply unit_below.
      - eapply Rle_trans; [ apply (proj1 bounds) | ]. apply Rmult_le_compat_l; [ exact O | eapply mixed_below; eauto ]. }
    destruct G as (_ & _ & G). destruct (G l L) as (_ & _ & U). assert (Z := norm_not_negative m (fun i => relu (hidden d ma mb w r l i))).
    rewrite <- (Rmult_1_l (o * v)). apply Rmult_le_compat; try assumption; apply norm_not_negative. }
  apply Rle_trans with (total (size p) (fun l => far + (if Nat.eq_dec l j then 2 * (o * v) else 0))).
  - apply total_at_most. intros l L. destruct (Nat.eq_dec l j) as [->|D].
    + assert (A := within _ _ (gl p j good L)). assert (B := within _ _ (gl p' j good' ltac:(lia))). apply Rabs_le. lra.
    + rewrite Rplus_0_r. unfold g, hidden. rewrite <- (outs l L).
      eapply Rle_trans; [ apply (units_apart (WO w) o (out p l) (mixed d mb w p l) (mixed d mb w p' l)); [ apply bounds | apply good, L ] | ].
      unfold far. replace (3 * o * v * exp (2 * (k * q)) / INR (size p)) with (o * (3 * v * exp (2 * (k * q)) / INR (size p))) by (field; lra).
      apply Rmult_le_compat_l; [ exact O | apply mixed_of_two; assumption ].
  - rewrite total_plus, total_constant. rewrite (total_single (size p) (fun l => if Nat.eq_dec l j then 2 * (o * v) else 0) j J).
    + destruct (Nat.eq_dec j j) as [_|X]; [ | congruence ]. right. unfold far. field. lra.
    + intros s _ S2. destruct (Nat.eq_dec s j); [ congruence | reflexivity ].
Qed.
End one_token.

(* the same sample, other weights *)
Section two_weights.
Variables (w u : weights) (p : sample) (o v k q far far_K : R).
Hypothesis good : admitted d m p.
Hypothesis not_negative : 0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q.
Hypothesis (far_not_negative : 0 <= far /\ 0 <= far_K).
Hypothesis (bounds : inside d ma mb m w o v k q) (bounds' : inside d ma mb m u o v k q).
Hypothesis apart : at_most m ma (less (WO w) (WO u)) far /\ at_most ma d (less (WV w) (WV u)) far /\
  at_most mb d (less (WK w) (WK u)) far_K /\ at_most mb d (less (WQ w) (WQ u)) far_K.

Lemma images_apart : forall r e U W h z, norm e z <= 1 -> 0 <= h -> at_most r e (less U W) h ->
  norm r (fun i => apply e U z i - apply e W z i) <= h.
Proof.
  intros r e U W h z Z P A. specialize (A z). rewrite (norm_equal r _ (apply e (less U W) z)).
  - eapply Rle_trans; [ exact A | ]. assert (N := norm_not_negative e z). nra.
  - intros i _. unfold apply, less. rewrite (inner_minus_left e (U i) (W i) z). reflexivity.
Qed.

Lemma logits_apart : forall s l, (s < size p)%nat -> (l < size p)%nat -> Rabs (logit d mb w p s l - logit d mb u p s l) <= far_K * q + k * far_K.
Proof.
  intros s l S1 L. destruct not_negative as (O & V & K & Q). destruct far_not_negative as (F1 & F2). destruct apart as (_ & _ & AK & AQ).
  destruct bounds as (_ & _ & HK & HQ). destruct bounds' as (_ & _ & HK' & HQ').
  assert (tk : norm d (token p s) <= 1) by (destruct good as (_ & _ & G); apply G, S1).
  assert (tl : norm d (token p l) <= 1) by (destruct good as (_ & _ & G); apply G, L).
  replace (logit d mb w p s l - logit d mb u p s l) with
    (inner mb (fun i => key d w p s i - key d u p s i) (query d w p l) + inner mb (key d u p s) (fun i => query d w p l i - query d u p l i)).
  2:{ unfold logit. rewrite inner_minus, inner_minus_left. ring. }
  eapply Rle_trans; [ apply Rabs_triang | ]. apply Rplus_le_compat; (eapply Rle_trans; [ apply cauchy_schwarz | ]); apply Rmult_le_compat; try apply norm_not_negative.
  - apply images_apart; assumption.
  - eapply of_token; eauto.
  - eapply of_token; eauto.
  - apply images_apart; assumption.
Qed.

Definition swing : R := exp (2 * (far_K * q + k * far_K)) - 1.

Lemma attention_apart : forall s l, (s < size p)%nat -> (l < size p)%nat ->
  Rabs (attention d mb w p s l - attention d mb u p s l) <= swing * attention d mb u p s l.
Proof.
  intros s l S1 L. set (D := far_K * q + k * far_K). assert (M := mass_positive d mb m w p good l). assert (M' := mass_positive d mb m u p good l).
  assert (lg : forall r, (r < size p)%nat -> exp (- D) * exp (logit d mb u p r l) <= exp (logit d mb w p r l) <= exp D * exp (logit d mb u p r l)).
  { intros r R. assert (A := within _ _ (logits_apart r l R L)). fold D in A. rewrite <- !exp_plus. split; apply exp_order; lra. }
  assert (cnt : forall r, (r < size p)%nat -> 0 < count p r) by (destruct good as (_ & _ & G); intros r R; apply G, R).
  assert (up : mass d mb w p l <= exp D * mass d mb u p l).
  { unfold mass. rewrite <- total_scaled. apply total_at_most. intros r R. destruct (lg r R) as (_ & A). specialize (cnt r R).
    replace (exp D * (count p r * exp (logit d mb u p r l))) with (count p r * (exp D * exp (logit d mb u p r l))) by ring. apply Rmult_le_compat_l; lra. }
  assert (down : exp (- D) * mass d mb u p l <= mass d mb w p l).
  { unfold mass. rewrite <- total_scaled. apply total_at_most. intros r R. destruct (lg r R) as (A & _). specialize (cnt r R).
    replace (exp (- D) * (count p r * exp (logit d mb u p r l))) with (count p r * (exp (- D) * exp (logit d mb u p r l))) by ring. apply Rmult_le_compat_l; lra. }
  assert (eD := exp_pos D). assert (eM := exp_pos (- D)). assert (inv : exp D * exp (- D) = 1) by (rewrite <- exp_plus; replace (D + - D) with 0 by ring; apply exp_0).
  destruct (lg s S1) as (l1 & l2). assert (c0 := cnt s S1). assert (e0 := exp_pos (logit d mb u p s l)). assert (ew := exp_pos (logit d mb w p s l)).
  unfold attention. set (A := count p s * exp (logit d mb w p s l)). set (A' := count p s * exp (logit d mb u p s l)).
  assert (A0 : 0 < A') by (apply Rmult_lt_0_compat; lra).
  assert (a1 : A <= exp D * A') by (unfold A, A'; replace (exp D * (count p s * exp (logit d mb u p s l))) with (count p s * (exp D * exp (logit d mb u p s l))) by ring; apply Rmult_le_compat_l; lra).
  assert (a2 : exp (- D) * A' <= A) by (unfold A, A'; replace (exp (- D) * (count p s * exp (logit d mb u p s l))) with (count p s * (exp (- D) * exp (logit d mb u p s l))) by ring; apply Rmult_le_compat_l; lra).
  set (E := exp (2 * D)). assert (E2 : E = exp D * exp D) by (unfold E; replace (2 * D) with (D + D) by ring; apply exp_plus).
  assert (Ei : / E = exp (- D) * exp (- D)) by (unfold E; rewrite <- exp_Ropp, <- exp_plus; f_equal; ring).
  assert (EP : 0 < E) by apply exp_pos.
  set (M1 := mass d mb w p l) in *. set (M2 := mass d mb u p l) in *.
  assert (hi : A / M1 <= E * (A' / M2)).
  { apply Rmult_le_reg_r with M1; [ exact M | ]. replace (A / M1 * M1) with A by (field; lra).
    apply Rle_trans with (exp D * A'); [ exact a1 | ].
    replace (exp D * A') with (E * (A' / M2) * (exp (- D) * M2)).
    - apply Rmult_le_compat_l; [ apply Rmult_le_pos; [ lra | apply Rlt_le, Rdiv_lt_0_compat; assumption ] | exact down ].
    - rewrite E2. replace (exp D * exp D * (A' / M2) * (exp (- D) * M2)) with (exp D * (exp D * exp (- D)) * A') by (field; lra). rewrite inv. ring. }
  assert (lo : / E * (A' / M2) <= A / M1).
  { apply Rmult_le_reg_r with M1; [ exact M | ]. replace (A / M1 * M1) with A by (field; lra).
    apply Rle_trans with (exp (- D) * A'); [ | exact a2 ].
    replace (exp (- D) * A') with (/ E * (A' / M2) * (exp D * M2)).
    - apply Rmult_le_compat_l; [ apply Rmult_le_pos; [ apply Rlt_le, Rinv_0_lt_compat, EP | apply Rlt_le, Rdiv_lt_0_compat; assumption ] | exact up ].
    - rewrite Ei. replace (exp (- D) * exp (- D) * (A' / M2) * (exp D * M2)) with (exp (- D) * (exp D * exp (- D)) * A') by (field; lra). rewrite inv. ring. }
  assert (ratio : 0 < A' / M2) by (apply Rdiv_lt_0_compat; assumption).
  assert (both : 1 - / E <= E - 1).
  { assert (0 <= (E - 1) * (E - 1) * / E) by (apply Rmult_le_pos; [ apply Rle_0_sqr | apply Rlt_le, Rinv_0_lt_compat, EP ]).
    replace ((E - 1) * (E - 1) * / E) with (E - 2 + / E) in H by (field; lra). lra. }
  assert (b2 : (1 - / E) * (A' / M2) <= (E - 1) * (A' / M2)) by (apply Rmult_le_compat_r; lra).
  unfold swing. fold D E. apply Rabs_le. lra.
Qed.

Lemma outputs_apart : Rabs (output d ma mb m w p - output d ma mb m u p) <= far * v + o * (far + v * swing).
Proof.
  destruct not_negative as (O & V & K & Q). destruct far_not_negative as (F1 & F2). destruct apart as (AO & AV & _).
  assert (mix : forall l, (l < size p)%nat -> norm ma (fun x => mixed d mb w p l x - mixed d mb u p l x) <= far + v * swing).
  { intros l L. rewrite (norm_equal ma _ (fun x => total (size p) (fun s => attention d mb w p s l * (value d w p s x - value d u p s x)) +
      total (size p) (fun s => (attention d mb w p s l - attention d mb u p s l) * value d u p s x))).
    2:{ intros x _. unfold mixed. rewrite <- total_minus, <- total_plus. apply total_equal; intros; ring. }
    eapply Rle_trans; [ apply norm_triangle | ]. apply Rplus_le_compat.
    - apply (attended d mb m w p good ma (fun s x => value d w p s x - value d u p s x)). intros s S1. apply images_apart; [ apply good, S1 | exact F1 | exact AV ].
    - eapply Rle_trans; [ apply norm_total | ].
      apply Rle_trans with (total (size p) (fun s => attention d mb u p s l * (v * swing))).
      + apply total_at_most. intros s S1. rewrite norm_scaled. assert (A := attention_apart s l S1 L).
        assert (B : norm ma (value d u p s) <= v) by (eapply of_token; eauto; apply bounds').
        replace (attention d mb u p s l * (v * swing)) with (swing * attention d mb u p s l * v) by ring.
        apply Rmult_le_compat; try assumption; [ apply Rabs_pos | apply norm_not_negative ].
      + rewrite total_times, (attention_sum d mb m u p good l). lra. }
  unfold output. rewrite <- total_minus.
  rewrite (total_equal (size p) _ (fun l => share p l * (total m (fun i => out p l i * relu (hidden d ma mb w p l i)) - total m (fun i => out p l i * relu (hidden d ma mb u p l i))))) by (intros; ring).
  eapply Rle_trans; [ apply total_abs | ].
  rewrite (total_equal (size p) _ (fun l => share p l * Rabs (total m (fun i => out p l i * relu (hidden d ma mb w p l i)) - total m (fun i => out p l i * relu (hidden d ma mb u p l i))))).
  2:{ intros l L. rewrite Rabs_mult, Rabs_right; [ reflexivity | apply Rle_ge, Rlt_le; eapply share_positive; eauto ]. }
  apply mean_below; [ intros; apply Rlt_le; eapply share_positive; eauto | eapply share_sum; eauto | ].
  intros l L. assert (UL : norm m (out p l) <= 1) by (apply good, L).
  set (g := total m (fun i => out p l i * relu (inner ma (WO u i) (mixed d mb w p l)))).
  assert (first : Rabs (total m (fun i => out p l i * relu (hidden d ma mb w p l i)) - g) <= far * v).
  { unfold g. rewrite <- total_minus. rewrite (total_equal m _ (fun i => out p l i * (relu (hidden d ma mb w p l i) - relu (inner ma (WO u i) (mixed d mb w p l))))) by (intros; ring).
    eapply Rle_trans; [ apply (cauchy_schwarz m (out p l) (fun i => relu (hidden d ma mb w p l i) - relu (inner ma (WO u i) (mixed d mb w p l)))) | ].
    assert (X : norm m (fun i => relu (hidden d ma mb w p l i) - relu (inner ma (WO u i) (mixed d mb w p l))) <= far * v).
    { apply Rle_trans with (norm m (apply ma (less (WO w) (WO u)) (mixed d mb w p l))).
      - apply norm_below. intros i _. eapply Rle_trans; [ apply relu_apart | ]. unfold hidden, apply, less.
        rewrite (inner_minus_left ma (WO w i) (WO u i)). lra.
      - eapply Rle_trans; [ apply AO | ]. apply Rmult_le_compat_l; [ exact F1 | eapply mixed_below; eauto ]. }
    rewrite <- (Rmult_1_l (far * v)). apply Rmult_le_compat; try assumption; apply norm_not_negative. }
  assert (second : Rabs (g - total m (fun i => out p l i * relu (hidden d ma mb u p l i))) <= o * (far + v * swing)).
  { unfold g, hidden. eapply Rle_trans; [ apply (units_apart (WO u) o (out p l) (mixed d mb w p l) (mixed d mb u p l)); [ apply bounds' | exact UL ] | ].
    apply Rmult_le_compat_l; [ exact O | apply mix, L ]. }
  apply within in first. apply within in second. apply Rabs_le. lra.
Qed.
End two_weights.

(* output weights with the other sign give the opposite output *)
Definition flipped (p : sample) : sample := {| size := size p; count := count p; token := token p; label := label p; out := fun l i => - out p l i |}.

Lemma flipped_output : forall w p, output d ma mb m w (flipped p) = - output d ma mb m w p.
Proof.
  intros w p. unfold output. simpl size. rewrite <- (Rmult_1_l (total (size p) (fun l => share p l * total m (fun i => out p l i * relu (hidden d ma mb w p l i))))), Ropp_mult_distr_l, <- total_scaled.
  apply total_equal. intros l _. change (share (flipped p) l) with (share p l).
  rewrite (total_equal m _ (fun i => -1 * (out p l i * relu (hidden d ma mb w p l i)))) by (intros; change (hidden d ma mb w (flipped p) l k) with (hidden d ma mb w p l k); simpl; ring).
  rewrite total_scaled. ring.
Qed.
End layer.
