(* the batch that refutes the printed bounds, with four patterns, the axes, at W_K = W_Q = W_V = 1: two neurons along the values of patterns 1 and 2,
   with output weights 1/sqrt 2 and -1/sqrt 2. Of B = 2 (1 + b) samples half have label 1: one has one token of pattern 1 and one of pattern 3, b have
   many of pattern 1 and one of pattern 4; the other half have label -1, one token of pattern 2 and one of pattern 4 *)
Definition axis (j : nat) : nat -> R := fun c => if Nat.eq_dec j c then 1 else 0.
Definition at_start : weights := {| WO := axis; WV := axis; WK := axis; WQ := axis |}.
Definition two_patterns (q r : nat) (u y : R) : sample :=
  {| size := 2; count := fun s => match s with O => u | _ => 1 end; token := fun s => axis (match s with O => q | _ => r end);
     label := y; out := fun _ i => match i with O => / sqrt 2 | _ => - / sqrt 2 end |}.
Definition two_kinds (q r : nat) : nat -> nat := fun s => match s with O => q | _ => r end.
Definition the_batch (b many n : nat) : sample :=
  if Nat.eq_dec n 0 then two_patterns 0 2 1 1 else if lt_dec n (1 + b) then two_patterns 0 3 (INR many) 1 else two_patterns 1 3 1 (-1).
Definition the_kinds (b n : nat) : nat -> nat :=
  if Nat.eq_dec n 0 then two_kinds 0 2 else if lt_dec n (1 + b) then two_kinds 0 3 else two_kinds 1 3.
Definition the_size (b : nat) : nat := 2 * (1 + b).
(* the hinge loss: its slope is 1 before the margin, for y F < 1 *)
Definition hinge (w : weights) (p : sample) : R := step (1 - label p * output 4 4 4 2 w p).

Lemma total_4 : forall f, total 4 f = f 0%nat + f 1%nat + f 2%nat + f 3%nat.
Proof. intro f. simpl. ring. Qed.

Lemma total_2 : forall f, total 2 f = f 0%nat + f 1%nat.
Proof. intro f. simpl. ring. Qed.

Lemma axes : orthonormal 4 4 axis.
Proof.
  intros i j I J. unfold inner. rewrite total_4. unfold axis.
  assert (i = 0 \/ i = 1 \/ i = 2 \/ i = 3)%nat as [->|[->|[->| ->]]] by lia; assert (j = 0 \/ j = 1 \/ j = 2 \/ j = 3)%nat as [->|[->|[->| ->]]] by lia; simpl; ring.
Qed.

Lemma image_of_axis : forall j z, (z < 4)%nat -> (j < 4)%nat -> apply 4 axis (axis j) z = axis j z.
Proof.
  intros j z Z J. unfold apply. rewrite (axes z j Z J). unfold axis. destruct (Nat.eq_dec z j), (Nat.eq_dec j z); congruence || reflexivity.
Qed.

Lemma images_inner : forall i j, (i < 4)%nat -> (j < 4)%nat -> inner 4 (apply 4 axis (axis i)) (apply 4 axis (axis j)) = if Nat.eq_dec i j then 1 else 0.
Proof.
  intros i j I J. rewrite (inner_equal 4 _ (axis i) _ (axis j)) by (intros; apply image_of_axis; assumption). apply axes; assumption.
Qed.

Section here.
Variables q r : nat.
Variables u y : R.
Hypothesis (kinds : (q < 4)%nat /\ (r < 4)%nat /\ q <> r) (many : 0 < u).
Let p := two_patterns q r u y.
Let kd := two_kinds q r.

Lemma kinds_below : forall s, (kd s < 4)%nat.
Proof. intros [|s]; simpl; apply kinds. Qed.

Lemma logits : forall s l, (s < 2)%nat -> (l < 2)%nat -> logit 4 4 at_start p s l = if Nat.eq_dec s l then 1 else 0.
Proof.
  intros s l S L. unfold logit, attention.key, attention.query.
  assert (T : forall s, token p s = axis (kd s)) by (intros [|k]; reflexivity). rewrite !T. simpl WK. simpl WQ.
  rewrite images_inner by apply kinds_below. destruct kinds as (_ & _ & D).
  destruct (Nat.eq_dec s l) as [->|E]; [ destruct (Nat.eq_dec (kd l) (kd l)); congruence | ].
  assert (s = 0 /\ l = 1 \/ s = 1 /\ l = 0)%nat as [[-> ->]|[-> ->]] by lia; simpl; destruct (Nat.eq_dec _ _); congruence.
Qed.

Lemma attention_0_0 : attention 4 4 at_start p 0 0 = u * exp 1 / (u * exp 1 + 1).
Proof.
  unfold attention, mass. change (size p) with 2%nat. rewrite total_2, !logits by lia. simpl Nat.eq_dec. cbv iota. simpl count. rewrite exp_0. f_equal. ring.
Qed.
Lemma attention_0_1 : attention 4 4 at_start p 0 1 = u / (u + exp 1).
Proof.
  unfold attention, mass. change (size p) with 2%nat. rewrite total_2, !logits by lia. simpl Nat.eq_dec. cbv iota. simpl count. rewrite exp_0, !Rmult_1_r. f_equal. ring.
Qed.
Lemma attention_1 : forall l, attention 4 4 at_start p 1 l = 1 - attention 4 4 at_start p 0 l.
Proof.
  intro l. unfold attention, mass. change (size p) with 2%nat. rewrite total_2. assert (A := exp_pos (logit 4 4 at_start p 0 l)).
  assert (B := exp_pos (logit 4 4 at_start p 1 l)). simpl count. assert (0 < u * exp (logit 4 4 at_start p 0 l)) by (apply Rmult_lt_0_compat; assumption). field. lra.
Qed.
Lemma attention_0_range : forall l, 0 < attention 4 4 at_start p 0 l < 1.
Proof.
  intro l. unfold attention, mass. change (size p) with 2%nat. rewrite total_2. assert (A := exp_pos (logit 4 4 at_start p 0 l)).
  assert (B := exp_pos (logit 4 4 at_start p 1 l)). simpl count. assert (0 < u * exp (logit 4 4 at_start p 0 l)) by (apply Rmult_lt_0_compat; assumption).
  split; [ apply Rdiv_lt_0_compat; lra | ]. apply Rmult_lt_reg_r with (u * exp (logit 4 4 at_start p 0 l) + 1 * exp (logit 4 4 at_start p 1 l)); [ lra | ].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.
Lemma values : forall i s, (i < 2)%nat -> inner 4 (WO at_start i) (value 4 at_start p s) = if Nat.eq_dec i (kd s) then 1 else 0.
Proof.
  intros i s I. unfold value. assert (T : token p s = axis (kd s)) by (destruct s; reflexivity). rewrite T. simpl WO. simpl WV.
  rewrite (inner_equal 4 _ (axis i) _ (axis (kd s))); [ apply axes; [ lia | apply kinds_below ] | reflexivity | ].
  intros z Z. apply image_of_axis; [ exact Z | apply kinds_below ].
Qed.
End here.

(* the samples with label 1 *)
Section first_pattern.
Variables (r : nat) (u : R).
Hypothesis (nuisance : (1 < r < 4)%nat) (many : 0 < u).
Let p := two_patterns 0 r u 1.
Let kd := two_kinds 0 r.
Let A l := attention 4 4 at_start p 0 l.

Lemma good : (0 < 4)%nat /\ (r < 4)%nat /\ 0%nat <> r. Proof. lia. Qed.

Lemma hidden_0 : forall l, hidden 4 4 4 at_start p l 0 = A l.
Proof.
  intro l. unfold hidden, mixed. change (size p) with 2%nat.
  rewrite (inner_equal 4 _ (WO at_start 0%nat) _ (fun x => 1 * (attention 4 4 at_start p 0 l * value 4 at_start p 0 x) + 1 * (attention 4 4 at_start p 1 l * value 4 at_start p 1 x)))
    by (intros; rewrite ?total_2; ring).
  unfold inner. rewrite (total_equal 4 _ (fun k => attention 4 4 at_start p 0 l * (WO at_start 0%nat k * value 4 at_start p 0 k) + attention 4 4 at_start p 1 l * (WO at_start 0%nat k * value 4 at_start p 1 k))) by (intros; ring).
  rewrite total_plus, !total_scaled. fold (inner 4 (WO at_start 0%nat) (value 4 at_start p 0)). fold (inner 4 (WO at_start 0%nat) (value 4 at_start p 1)).
  rewrite !(values 0 r u 1 good) by lia. simpl two_kinds. destruct (Nat.eq_dec 0 0); [ | congruence ]. destruct (Nat.eq_dec 0 r); [ lia | ]. unfold A. ring.
Qed.

Lemma hidden_1 : forall l, hidden 4 4 4 at_start p l 1 = 0.
Proof.
  intro l. unfold hidden, mixed. change (size p) with 2%nat.
  rewrite (inner_equal 4 _ (WO at_start 1%nat) _ (fun x => 1 * (attention 4 4 at_start p 0 l * value 4 at_start p 0 x) + 1 * (attention 4 4 at_start p 1 l * value 4 at_start p 1 x)))
    by (intros; rewrite ?total_2; ring).
  unfold inner. rewrite (total_equal 4 _ (fun k => attention 4 4 at_start p 0 l * (WO at_start 1%nat k * value 4 at_start p 0 k) + attention 4 4 at_start p 1 l * (WO at_start 1%nat k * value 4 at_start p 1 k))) by (intros; ring).
  rewrite total_plus, !total_scaled. fold (inner 4 (WO at_start 1%nat) (value 4 at_start p 0)). fold (inner 4 (WO at_start 1%nat) (value 4 at_start p 1)).
  rewrite !(values 0 r u 1 good) by lia. simpl two_kinds. destruct (Nat.eq_dec 1 0); [ congruence | ]. destruct (Nat.eq_dec 1 r); [ lia | ]. ring.
Qed.

Lemma root_range : 0 < / sqrt 2 < 1.
Proof.
  assert (L : 1 < sqrt 2) by (rewrite <- sqrt_1 at 1; apply sqrt_lt_1; lra). split; [ apply Rinv_0_lt_compat; lra | ].
  rewrite <- Rinv_1. apply Rinv_lt_contravar; lra.
Qed.

Lemma shares : share p 0 = u / (u + 1) /\ share p 1 = 1 / (u + 1).
Proof. unfold share. change (size p) with 2%nat. rewrite total_2. split; reflexivity. Qed.

Lemma before_margin : hinge at_start p = 1.
Proof.
  unfold hinge. apply step_on. change (label p) with 1. unfold output. change (size p) with 2%nat. rewrite !total_2, !hidden_0, !hidden_1.
  destruct shares as [-> ->]. change (out p 0%nat 0%nat) with (/ sqrt 2). change (out p 1%nat 0%nat) with (/ sqrt 2). unfold relu.
  assert (R0 := attention_0_range 0 r u 1 many 0%nat). assert (R1 := attention_0_range 0 r u 1 many 1%nat). fold p in R0, R1. fold (A 0) in R0. fold (A 1) in R1.
  rewrite (step_on (A 0)), (step_on (A 1)) by lra. rewrite !Rmult_0_r, !Rplus_0_r, !Rmult_1_l. destruct root_range as [a0 a1]. set (a := / sqrt 2) in *.
  assert (b0 : a * A 0 <= a) by (rewrite <- (Rmult_1_r a) at 2; apply Rmult_le_compat_l; lra).
  assert (b1 : a * A 1 <= a) by (rewrite <- (Rmult_1_r a) at 2; apply Rmult_le_compat_l; lra).
  assert (f0 : 0 < u / (u + 1)) by (apply Rdiv_lt_0_compat; lra). assert (f1 : 0 < 1 / (u + 1)) by (apply Rdiv_lt_0_compat; lra).
  assert (c0 : u / (u + 1) * (a * A 0) <= u / (u + 1) * a) by (apply Rmult_le_compat_l; lra).
  assert (c1 : 1 / (u + 1) * (a * A 1) <= 1 / (u + 1) * a) by (apply Rmult_le_compat_l; lra).
  assert (E : u / (u + 1) * a + 1 / (u + 1) * a = a) by (field; lra). lra.
Qed.

Lemma gains : forall s l, (s < 2)%nat -> gain 4 4 4 2 hinge at_start p s l = if Nat.eq_dec s 0 then share p l * / sqrt 2 else 0.
Proof.
  intros s l S. unfold gain. rewrite total_2, !(values 0 r u 1 good) by lia. unfold coefficient. rewrite hidden_0, before_margin.
  assert (R := attention_0_range 0 r u 1 many l). fold p in R. fold (A l) in R. rewrite (step_on (A l)) by lra. change (label p) with 1. change (out p l 0%nat) with (/ sqrt 2).
  destruct s as [|[|s]]; [ | | lia ]; simpl two_kinds.
  - destruct (Nat.eq_dec 0 0); [ | congruence ]. destruct (Nat.eq_dec 1 0); [ congruence | ]. ring.
  - destruct (Nat.eq_dec 0 r); [ lia | ]. destruct (Nat.eq_dec 1 r); [ lia | ]. destruct (Nat.eq_dec 1 0); [ congruence | ]. ring.
Qed.

Definition one_pull (l : nat) : R := A l * (1 - A l) * (share p l * / sqrt 2).

Lemma pulls : forall l, pull 4 4 4 2 hinge at_start p 0 l = one_pull l /\ pull 4 4 4 2 hinge at_start p 1 l = - one_pull l.
Proof.
  intro l. unfold pull. change (size p) with 2%nat. rewrite total_2, !gains by lia. destruct (Nat.eq_dec 0 0); [ | congruence ]. destruct (Nat.eq_dec 1 0); [ congruence | ].
  rewrite !(attention_1 0 r u 1 many). fold p. unfold one_pull, A. split; ring.
Qed.
End first_pattern.

Lemma total_append : forall n k f, total (n + k) f = total n f + total k (fun i => f (n + i)%nat).
Proof. intros n k f. induction k as [|k E]; simpl; [ rewrite Nat.add_0_r; ring | rewrite Nat.add_succ_r; simpl; rewrite E; ring ]. Qed.

(* a sum over the batch: the sample alone, b others with label 1, and those with label -1 *)
Lemma over_the_batch : forall b f x y z, f 0%nat = x -> (forall n, (0 < n < 1 + b)%nat -> f n = y) -> (forall n, (1 + b <= n)%nat -> f n = z) ->
  total (the_size b) f = x + INR b * y + (INR b + 1) * z.
Proof.
  intros b f x y z F0 F1 F2. unfold the_size. replace (2 * (1 + b))%nat with ((1 + b) + (1 + b))%nat by lia. rewrite total_append, (total_append 1 b).
  rewrite (total_equal b _ (fun _ => y)) by (intros; apply F1; lia). rewrite (total_equal (1 + b) _ (fun _ => z)) by (intros; apply F2; lia).
  rewrite !total_constant, plus_INR. simpl total at 1. simpl (INR 1). rewrite F0. ring.
Qed.

Section the_batch.
Variables b many : nat.
Hypothesis some_tokens : (0 < many)%nat.
Let B := the_size b.
Let force n j k := G 4 4 4 2 hinge (the_batch b many) (the_kinds b) at_start n j k.

Lemma many_positive : 0 < INR many. Proof. apply lt_0_INR, some_tokens. Qed.
Lemma batch_positive : 0 < INR B. Proof. apply lt_0_INR. unfold B, the_size. lia. Qed.
Lemma batch_size : INR B = 2 * (1 + INR b).
Proof. unfold B, the_size. rewrite mult_INR, plus_INR. simpl. ring. Qed.

Lemma the_first : the_batch b many 0 = two_patterns 0 2 1 1 /\ the_kinds b 0 = two_kinds 0 2.
Proof. split; reflexivity. Qed.
Lemma the_next : forall n, (0 < n < 1 + b)%nat -> the_batch b many n = two_patterns 0 3 (INR many) 1 /\ the_kinds b n = two_kinds 0 3.
Proof. intros n N. unfold the_batch, the_kinds. destruct (Nat.eq_dec n 0); [ lia | ]. destruct (lt_dec n (1 + b)); [ split; reflexivity | lia ]. Qed.
Lemma the_last : forall n, (1 + b <= n)%nat -> the_batch b many n = two_patterns 1 3 1 (-1) /\ the_kinds b n = two_kinds 1 3.
Proof. intros n N. unfold the_batch, the_kinds. destruct (Nat.eq_dec n 0); [ lia | ]. destruct (lt_dec n (1 + b)); [ lia | split; reflexivity ]. Qed.

Lemma the_patterns : forall n, (n < B)%nat -> of_patterns 4 axis (the_batch b many n) (the_kinds b n).
Proof.
  intros n _ s S. assert (M := many_positive).
  revert S. unfold the_batch, the_kinds. destruct (Nat.eq_dec n 0) as [->|D]; [ | destruct (lt_dec n (1 + b)) as [L|L] ];
    intro S; destruct s as [|s]; simpl; repeat split; solve [ lia | lra ].
Qed.

Lemma features : orthogonal 4 4 (key_of 4 axis at_start) /\ orthogonal 4 4 (query_of 4 axis at_start).
Proof.
  assert (O : orthogonal 4 4 (fun j => apply 4 axis (axis j))).
  { intros i j I J. rewrite !images_inner by assumption. destruct (Nat.eq_dec i i); [ | congruence ]. split; [ lra | ]. intro D. destruct (Nat.eq_dec i j); congruence. }
  split; exact O.
Qed.

Lemma norm_axis : forall j, (j < 4)%nat -> norm 4 (axis j) <= 1.
Proof. intros j J. unfold norm. rewrite (axes j j J J). destruct (Nat.eq_dec j j); [ | congruence ]. rewrite sqrt_1. lra. Qed.

Lemma the_admitted : batch_admitted 4 2 B (the_batch b many).
Proof.
  split; [ unfold B, the_size; lia | ]. intros n N. assert (P := the_patterns n N).
  assert (Z : forall q r u y, Rabs y <= 1 -> of_patterns 4 axis (two_patterns q r u y) (the_kinds b n) -> admitted 4 2 (two_patterns q r u y)).
  { intros q r u y Y H. split; [ simpl; lia | split; [ exact Y | ] ]. intros s S. destruct (H s S) as (T & C & K). split; [ exact C | ].
    rewrite T. split; [ apply norm_axis, K | ]. unfold norm, inner. rewrite total_2. simpl out.
    replace (/ sqrt 2 * / sqrt 2 + - / sqrt 2 * - / sqrt 2) with 1; [ rewrite sqrt_1; lra | ].
    assert (Q : sqrt 2 * sqrt 2 = 2) by (apply sqrt_sqrt; lra). assert (0 < sqrt 2) by (apply sqrt_lt_R0; lra).
    replace 1 with (2 * / (sqrt 2 * sqrt 2)) by (rewrite Q; field). field. lra. }
  revert P. unfold the_batch. destruct (Nat.eq_dec n 0); [ | destruct (lt_dec n (1 + b)) ]; apply Z; rewrite ?Rabs_R1; try lra. rewrite Rabs_left; lra.
Qed.

Definition alone : R := one_pull 2 1 0.
Definition each : R := one_pull 3 (INR many) 0.

Lemma force_of_first : force 0 0 0 = alone /\ force 0 2 0 = - alone /\ force 0 0 2 = alone.
Proof.
  unfold force, G. destruct the_first as [-> ->]. change (size (two_patterns 0 2 1 1)) with 2%nat. rewrite !total_2. unfold on, two_kinds. simpl Nat.eq_dec. cbv iota.
  destruct (pulls 2 1 ltac:(lia) ltac:(lra) 0%nat) as [P0 P1]. destruct (pulls 2 1 ltac:(lia) ltac:(lra) 1%nat) as [P2 P3]. rewrite P0, P1, P2.
  fold alone. repeat split; try ring. rewrite !Rplus_0_r, Rplus_0_l. unfold alone, one_pull.
  rewrite (attention_0_0 0 2 1 1) by lia. rewrite (attention_0_1 0 2 1 1) by lia. destruct (shares 2 1) as [-> ->]. assert (E := exp_pos 1). field. split; [ | lra ].
  apply Rgt_not_eq, sqrt_lt_R0; lra.
Qed.

Lemma force_of_next : forall n, (0 < n < 1 + b)%nat -> force n 0 0 = each /\ force n 2 0 = 0 /\ force n 0 2 = 0.
Proof.
  intros n N. unfold force, G. destruct (the_next n N) as [-> ->]. change (size (two_patterns 0 3 (INR many) 1)) with 2%nat. rewrite !total_2. unfold on, two_kinds. simpl Nat.eq_dec. cbv iota.
  destruct (pulls 3 (INR many) ltac:(lia) many_positive 0%nat) as [P0 P1]. rewrite P0. fold each. repeat split; ring.
Qed.

Lemma force_of_last : forall n, (1 + b <= n)%nat -> force n 0 0 = 0 /\ force n 2 0 = 0 /\ force n 0 2 = 0.
Proof.
  intros n N. unfold force, G. destruct (the_last n N) as [-> ->]. change (size (two_patterns 1 3 1 (-1))) with 2%nat. rewrite !total_2. unfold on, two_kinds. simpl Nat.eq_dec. cbv iota.
  repeat split; ring.
Qed.

Lemma portions : portion (the_batch b many 0) (the_kinds b 0) 2 = 1 /\ (forall n, (0 < n < 1 + b)%nat -> portion (the_batch b many n) (the_kinds b n) 2 = 0) /\
  forall n, (1 + b <= n)%nat -> portion (the_batch b many n) (the_kinds b n) 2 = 0.
Proof.
  repeat split; intros; [ destruct the_first as [-> ->] | destruct (the_next n H) as [-> ->] | destruct (the_last n H) as [-> ->] ]; unfold portion, tokens, all_tokens;
    match goal with |- context [size ?p] => change (size p) with 2%nat end; rewrite !total_2; unfold on, two_kinds; simpl Nat.eq_dec; cbv iota; simpl count.
  - field.
  - unfold Rdiv. ring.
  - unfold Rdiv. ring.
Qed.

Lemma mean_force : mean B (fun n => force n 0 0) = / INR B * (alone + INR b * each).
Proof.
  unfold mean. f_equal. unfold B. rewrite (over_the_batch b _ alone each 0); [ ring | apply force_of_first | intros; apply force_of_next; assumption | intros; apply force_of_last; assumption ].
Qed.
Lemma mean_other : mean B (fun n => force n 2 0) = - (/ INR B * alone) /\ mean B (fun n => force n 0 2) = / INR B * alone.
Proof.
  unfold mean, B. split.
  - rewrite (over_the_batch b _ (- alone) 0 0); [ ring | apply force_of_first | intros; apply force_of_next; assumption | intros; apply force_of_last; assumption ].
  - rewrite (over_the_batch b _ alone 0 0); [ ring | apply force_of_first | intros; apply force_of_next; assumption | intros; apply force_of_last; assumption ].
Qed.
Lemma mean_portion : forall K, mean B (fun n => K * portion (the_batch b many n) (the_kinds b n) 2) = K * / INR B.
Proof.
  intro K. destruct portions as (P0 & P1 & P2). unfold mean, B. rewrite (over_the_batch b _ (K * 1) (K * 0) (K * 0)); [ ring | rewrite P0; reflexivity | intros; rewrite P1 by assumption; reflexivity | intros; rewrite P2 by assumption; reflexivity ].
Qed.

(* with many tokens of pattern 1 the others together add no more to K(t) than the sample alone *)
Lemma others_add_less : many_tokens (exp 1) (INR b) <= INR many -> 0 < alone /\ 0 < each /\ INR b * each <= alone.
Proof.
  intro H. assert (M := many_positive). assert (E := exp_pos 1). destruct (root_range) as [a0 _]. assert (b0 := pos_INR b). set (x := exp 1) in *. set (u := INR many) in *.
  assert (F : alone = x / (1 + x) ^ 2 * (/ 2 * / sqrt 2)).
  { unfold alone, one_pull. rewrite (attention_0_0 0 2 1 1) by lia. destruct (shares 2 1) as [-> _]. fold x. field. split; [ | lra ]. apply Rgt_not_eq, sqrt_lt_R0; lra. }
  assert (F' : each = u * x / (u * x + 1) ^ 2 * (u / (u + 1) * / sqrt 2)).
  { unfold each, one_pull. fold u. rewrite (attention_0_0 0 3 u 1) by lia. destruct (shares 3 u) as [-> _]. fold x. assert (0 < u * x) by (apply Rmult_lt_0_compat; assumption).
    field. repeat split; try lra. apply Rgt_not_eq, sqrt_lt_R0; lra. }
  assert (ux : 0 < u * x) by (apply Rmult_lt_0_compat; assumption). set (a := / sqrt 2) in *.
  assert (P : 0 < alone) by (rewrite F; apply Rmult_lt_0_compat; [ apply Rdiv_lt_0_compat; [ lra | apply pow_lt; lra ] | lra ]).
  assert (Q : 0 < each) by (rewrite F'; apply Rmult_lt_0_compat; [ apply Rdiv_lt_0_compat; [ lra | apply pow_lt; lra ] | apply Rmult_lt_0_compat; [ apply Rdiv_lt_0_compat; lra | lra ] ]).
  repeat split; try assumption.
  assert (up : each <= / (u * x) * a).
  { rewrite F'. replace (u * x / (u * x + 1) ^ 2 * (u / (u + 1) * a)) with (/ (u * x) * a * ((u * x) ^ 2 / (u * x + 1) ^ 2 * (u / (u + 1)))) by (field; repeat split; lra).
    assert (I : 0 < / (u * x) * a) by (apply Rmult_lt_0_compat; [ apply Rinv_0_lt_compat, ux | exact a0 ]).
    rewrite <- (Rmult_1_r (/ (u * x) * a)) at 2. apply Rmult_le_compat_l; [ lra | ].
    assert (l1 : (u * x) ^ 2 / (u * x + 1) ^ 2 <= 1).
    { apply Rmult_le_reg_r with ((u * x + 1) ^ 2); [ apply pow_lt; lra | ]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by (apply pow_nonzero; lra). rewrite Rmult_1_l, Rmult_1_r. apply pow_incr; lra. }
    assert (l2 : u / (u + 1) <= 1) by (apply Rmult_le_reg_r with (u + 1); [ lra | unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra ]).
    assert (p1 : 0 <= (u * x) ^ 2 / (u * x + 1) ^ 2) by (apply Rlt_le, Rdiv_lt_0_compat; apply pow_lt; lra).
    assert (p2 : 0 <= u / (u + 1)) by (apply Rlt_le, Rdiv_lt_0_compat; lra).
    apply Rle_trans with (1 * 1); [ apply Rmult_le_compat; assumption | lra ]. }
  apply Rle_trans with (INR b * (/ (u * x) * a)); [ apply Rmult_le_compat_l; assumption | ]. rewrite F.
  assert (T : many_tokens x (INR b) = 2 * INR b * (1 + x) ^ 2 / x ^ 2) by (unfold many_tokens; field; lra). rewrite T in H.
  apply Rmult_le_reg_r with (2 * (u * x) * (1 + x) ^ 2 / a / x ^ 2); [ apply Rdiv_lt_0_compat; [ apply Rdiv_lt_0_compat; [ apply Rmult_lt_0_compat; [ lra | apply pow_lt; lra ] | exact a0 ] | apply pow_lt; lra ] | ].
  match goal with |- ?l <= ?r => replace r with u by (field; repeat split; lra); replace l with (INR b * 2 * (1 + x) ^ 2 / x ^ 2) by (field; repeat split; lra) end.
  eapply Rle_trans; [ | exact H ]. right. field. lra.
Qed.

Lemma the_components : K_t 4 4 4 2 hinge B (the_batch b many) axis at_start = / INR B * (alone + INR b * each) /\
  Q_t 4 4 4 2 hinge B (the_batch b many) axis at_start = / INR B * (alone + INR b * each) /\
  gamma' 4 4 4 2 hinge B (the_batch b many) axis at_start 2 = - (/ INR B * alone) /\ gamma 4 4 4 2 hinge B (the_batch b many) axis at_start 2 = / INR B * alone.
Proof.
  destruct features as [FK FQ]. destruct mean_other as [X Y]. rewrite <- X, <- Y, <- mean_force. unfold K_t, Q_t.
  repeat split; [ apply (along_keys 4 4 4 2 4 hinge B _ (the_kinds b) axis at_start the_patterns axes ltac:(lia) FK) | apply (along_queries 4 4 4 2 4 hinge B _ (the_kinds b) axis at_start the_patterns axes ltac:(lia) FQ)
    | apply (along_keys 4 4 4 2 4 hinge B _ (the_kinds b) axis at_start the_patterns axes ltac:(lia) FK) | apply (along_queries 4 4 4 2 4 hinge B _ (the_kinds b) axis at_start the_patterns axes ltac:(lia) FQ) ]; lia.
Qed.

Lemma half_the_batch : many_tokens (exp 1) (INR b) <= INR many -> 0 < / INR B * (alone + INR b * each) /\
  INR B / 2 * (/ INR B * (alone + INR b * each) * / INR B) <= / INR B * alone /\ 0 < / INR B * alone.
Proof.
  intro H. destruct (others_add_less H) as (P & Q & L). assert (I : 0 < / INR B) by apply Rinv_0_lt_compat, batch_positive. assert (b0 := pos_INR b). assert (N0 := batch_positive).
  assert (0 <= INR b * each) by (apply Rmult_le_pos; lra).
  split; [ apply Rmult_lt_0_compat; lra | split; [ | apply Rmult_lt_0_compat; lra ] ].
  replace (INR B / 2 * (/ INR B * (alone + INR b * each) * / INR B)) with (/ INR B * ((alone + INR b * each) / 2)) by (field; lra).
  apply Rmult_le_compat_l; lra.
Qed.
End the_batch.

Lemma number_above : forall C, exists n, C < INR n.
Proof.
  intro C. exists (Z.to_nat (up (Rabs C))). destruct (archimed (Rabs C)) as [H _]. assert (P := Rabs_pos C). assert (Q := Rle_abs C).
  assert (0 <= up (Rabs C))%Z by (apply le_IZR; lra). rewrite INR_IZR_INZ, Z2Nat.id by assumption. lra.
Qed.

Lemma enough_tokens : forall C, exists b many, (0 < many)%nat /\ many_tokens (exp 1) (INR b) <= INR many /\ C < INR (the_size b) / 2.
Proof.
  intro C. destruct (number_above C) as [b H]. destruct (number_above (many_tokens (exp 1) (INR b))) as [many M]. exists b, (S many).
  rewrite (batch_size b), S_INR. split; [ lia | split; lra ].
Qed.
