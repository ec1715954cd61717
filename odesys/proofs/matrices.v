(* Matrices with real entries: their norms, products of a column and a row, transposed ones; means with weights.
   Nothing is assumed here. *)
From Coq Require Import Reals Lra Lia Psatz.
From Odesys Require Import prelude sequences lengths.
Open Scope R_scope.

(* sums *)
Lemma total_swap : forall n m (f : nat -> nat -> R),
  total n (fun i => total m (fun j => f i j)) = total m (fun j => total n (fun i => f i j)).
Proof.
  induction n as [|n E]; intros m f; simpl.
  - rewrite total_constant; ring.
  - rewrite E, <- total_plus. apply total_equal; intros; ring.
Qed.

Lemma total_times : forall n f c, total n (fun k => f k * c) = total n f * c.
Proof. intros. rewrite (total_equal n _ (fun k => c * f k)) by (intros; ring). rewrite total_scaled; ring. Qed.

Lemma total_not_negative : forall n f, (forall k, (k < n)%nat -> 0 <= f k) -> 0 <= total n f.
Proof.
  intros n f H. replace 0 with (total n (fun _ => 0)) by (rewrite total_constant; ring).
  apply total_at_most; exact H.
Qed.

Lemma total_positive : forall n f, (0 < n)%nat -> (forall k, (k < n)%nat -> 0 < f k) -> 0 < total n f.
Proof.
  intros [|n] f N H; [ lia | simpl ]. assert (0 <= total n f) by (apply total_not_negative; intros; apply Rlt_le, H; lia).
  assert (0 < f n) by (apply H; lia). lra.
Qed.

Lemma summand_below : forall n f k, (forall j, (j < n)%nat -> 0 <= f j) -> (k < n)%nat -> f k <= total n f.
Proof.
  induction n as [|n E]; intros f k H K; [ lia | simpl ]. assert (P := H n ltac:(lia)).
  destruct (Nat.eq_dec k n) as [->|D].
  - assert (0 <= total n f) by (apply total_not_negative; intros; apply H; lia). lra.
  - assert (Z := E f k ltac:(intros; apply H; lia) ltac:(lia)). lra.
Qed.

Lemma total_abs : forall n f, Rabs (total n f) <= total n (fun k => Rabs (f k)).
Proof.
  induction n as [|n E]; intro f; simpl; [ rewrite Rabs_R0; lra | ].
  eapply Rle_trans; [ apply Rabs_triang | specialize (E f); lra ].
Qed.

(* lengths *)
Lemma norm_equal : forall e u w, (forall k, (k < e)%nat -> u k = w k) -> norm e u = norm e w.
Proof. intros e u w H. unfold norm, inner. f_equal. apply total_equal. intros k K. rewrite (H k K). reflexivity. Qed.

Lemma norm_scaled : forall e c u, norm e (fun k => c * u k) = Rabs c * norm e u.
Proof.
  intros. unfold norm, inner. rewrite (total_equal e _ (fun k => (c * c) * (u k * u k))) by (intros; ring).
  rewrite total_scaled, sqrt_mult_alt by nra. f_equal. rewrite <- sqrt_Rsqr_abs. reflexivity.
Qed.

Lemma norm_total : forall e n (u : nat -> nat -> R),
  norm e (fun k => total n (fun j => u j k)) <= total n (fun j => norm e (u j)).
Proof.
  intros e n u; induction n as [|n E]; simpl.
  - rewrite (norm_equal e _ (fun k => 0 * 0)) by (intros; ring). rewrite norm_scaled, Rabs_R0. lra.
  - eapply Rle_trans; [ apply norm_triangle | lra ].
Qed.

Lemma norm_below : forall e u w, (forall k, (k < e)%nat -> Rabs (u k) <= Rabs (w k)) -> norm e u <= norm e w.
Proof.
  intros e u w H. apply sqrt_le_1_alt. apply total_at_most. intros k K. specialize (H k K).
  assert (A := Rabs_pos (u k)). replace (u k * u k) with (Rabs (u k) * Rabs (u k)) by (rewrite <- Rabs_mult; apply Rabs_right; nra).
  replace (w k * w k) with (Rabs (w k) * Rabs (w k)) by (rewrite <- Rabs_mult; apply Rabs_right; nra). nra.
Qed.

(* an entry is no longer than the vector *)
Lemma entry_below : forall e u k, (k < e)%nat -> Rabs (u k) <= norm e u.
Proof.
  intros e u k K. unfold norm. rewrite <- (sqrt_Rsqr_abs (u k)). apply sqrt_le_1_alt. unfold Rsqr, inner.
  induction e as [|e E]; [ lia | simpl ]. destruct (Nat.eq_dec k e) as [->|D].
  - assert (0 <= total e (fun k => u k * u k)) by (apply total_not_negative; intros; nra). lra.
  - assert (A := E ltac:(lia)). assert (0 <= u e * u e) by nra. lra.
Qed.

(* matrices: W i is row i; W times a vector with e entries; W has norm at most b *)
Definition apply (e : nat) (W : nat -> nat -> R) (x : nat -> R) : nat -> R := fun i => inner e (W i) x.
Definition at_most (r e : nat) (W : nat -> nat -> R) (b : R) : Prop := forall z, norm r (apply e W z) <= b * norm e z.

Lemma at_most_equal : forall r e U W b, (forall i x, U i x = W i x) -> at_most r e U b -> at_most r e W b.
Proof.
  intros r e U W b H A z. eapply Rle_trans; [ | apply (A z) ]. apply Req_le, norm_equal. intros i _.
  apply total_equal. intros x _. rewrite H; ring.
Qed.

Lemma at_most_weaker : forall r e W b c, b <= c -> at_most r e W b -> at_most r e W c.
Proof. intros r e W b c L A z. specialize (A z). assert (N := norm_not_negative e z). nra. Qed.

Lemma at_most_plus : forall r e U W b c,
  at_most r e U b -> at_most r e W c -> at_most r e (fun i x => U i x + W i x) (b + c).
Proof.
  intros r e U W b c A B z. specialize (A z); specialize (B z).
  rewrite (norm_equal r _ (fun i => apply e U z i + apply e W z i)).
  - eapply Rle_trans; [ apply norm_triangle | lra ].
  - intros i _. unfold apply, inner. rewrite <- total_plus. apply total_equal; intros; ring.
Qed.

Lemma at_most_scaled : forall r e W b c, at_most r e W b -> at_most r e (fun i x => c * W i x) (Rabs c * b).
Proof.
  intros r e W b c A z. specialize (A z). rewrite (norm_equal r _ (fun i => c * apply e W z i)).
  - rewrite norm_scaled. assert (P := Rabs_pos c). rewrite Rmult_assoc. apply Rmult_le_compat_l; assumption.
  - intros i _. unfold apply, inner. rewrite <- total_scaled. apply total_equal; intros; ring.
Qed.

Lemma at_most_total : forall r e n (U : nat -> nat -> nat -> R) (b : nat -> R),
  (forall j, (j < n)%nat -> at_most r e (U j) (b j)) -> at_most r e (fun i x => total n (fun j => U j i x)) (total n b).
Proof.
  intros r e n U b H; induction n as [|n E]; simpl.
  - intro z. rewrite (norm_equal r _ (fun k => 0 * 0)).
    + rewrite norm_scaled, Rabs_R0. lra.
    + intros i _. unfold apply, inner. rewrite (total_equal e _ (fun _ => 0)) by (intros; ring). rewrite total_constant; ring.
  - apply at_most_plus; [ apply E; intros; apply H; lia | apply H; lia ].
Qed.

(* one column times one row *)
Lemma at_most_product : forall r e f g, at_most r e (fun i x => f i * g x) (norm r f * norm e g).
Proof.
  intros r e f g z. rewrite (norm_equal r _ (fun i => inner e g z * f i)).
  - rewrite norm_scaled. assert (C := cauchy_schwarz e g z). assert (N := norm_not_negative r f). nra.
  - intros i _. unfold apply, inner. rewrite <- total_times. apply total_equal; intros; ring.
Qed.

(* the transposed matrix is no longer *)
Lemma transposed : forall r e W b u, 0 <= b -> at_most r e W b ->
  norm e (fun x => total r (fun i => u i * W i x)) <= b * norm r u.
Proof.
  intros r e W b u B A. set (z := fun x => total r (fun i => u i * W i x)).
  assert (S : norm e z * norm e z = inner r u (apply e W z)).
  { rewrite norm_square. unfold inner, apply, inner. unfold z at 1.
    rewrite (total_equal e _ (fun x => total r (fun i => u i * (W i x * z x)))).
    - rewrite total_swap. apply total_equal. intros i _. rewrite total_scaled. reflexivity.
    - intros x _. rewrite <- total_times. apply total_equal; intros; ring. }
  assert (C := within _ _ (cauchy_schwarz r u (apply e W z))). specialize (A z).
  assert (P := norm_not_negative e z). assert (Q := norm_not_negative r u).
  destruct (Rle_lt_dec (norm e z) 0) as [Z|Z]; [ assert (0 <= b * norm r u) by (apply Rmult_le_pos; assumption); lra | ].
  apply Rmult_le_reg_r with (norm e z); [ exact Z | ]. rewrite S.
  apply Rle_trans with (norm r u * norm r (apply e W z)); [ apply C | ].
  replace (b * norm r u * norm e z) with (norm r u * (b * norm e z)) by ring. apply Rmult_le_compat_l; assumption.
Qed.

Lemma row_below : forall r e W b i, 0 <= b -> at_most r e W b -> (i < r)%nat -> norm e (W i) <= b.
Proof.
  intros r e W b i B A L. assert (S := norm_square e (W i)). specialize (A (W i)).
  assert (C := entry_below r (apply e W (W i)) i L). assert (D := Rle_abs (apply e W (W i) i)).
  change (apply e W (W i) i) with (inner e (W i) (W i)) in *. assert (P := norm_not_negative e (W i)).
  destruct (Rle_lt_dec (norm e (W i)) 0) as [Z|Z]; [ lra | ].
  apply Rmult_le_reg_r with (norm e (W i)); [ exact Z | lra ].
Qed.

(* the length of an image moves by no more than the matrix *)
Lemma image_moves : forall r e U W h z, norm e z <= 1 -> 0 <= h -> at_most r e (fun i x => U i x - W i x) h ->
  norm r (apply e U z) <= norm r (apply e W z) + h /\ norm r (apply e W z) - h <= norm r (apply e U z).
Proof.
  intros r e U W h z Z P A. specialize (A z).
  assert (D : norm r (apply e (fun i x => U i x - W i x) z) <= h) by (eapply Rle_trans; [ exact A | assert (N := norm_not_negative e z); nra ]).
  assert (E : forall i, apply e (fun i x => U i x - W i x) z i = apply e U z i - apply e W z i).
  { intro i. unfold apply, inner. unfold Rminus at 2. rewrite <- (Rmult_1_l (total e (fun k => W i k * z k))), Ropp_mult_distr_l, <- total_scaled, <- total_plus.
    apply total_equal; intros; ring. }
  split.
  - rewrite (norm_equal r (apply e U z) (fun i => apply e W z i + apply e (fun i x => U i x - W i x) z i)) by (intros; rewrite E; ring).
    eapply Rle_trans; [ apply norm_triangle | lra ].
  - rewrite (norm_equal r (apply e W z) (fun i => apply e U z i + -1 * apply e (fun i x => U i x - W i x) z i)) by (intros; rewrite E; ring).
    assert (T := norm_triangle r (apply e U z) (fun i => -1 * apply e (fun i x => U i x - W i x) z i)).
    rewrite norm_scaled, (Rabs_left (-1)) in T by lra. cbv beta in T. lra.
Qed.

(* a mean with weights, which are not negative and add up to 1: of sizes, and about the mean *)
Lemma mean_below : forall n (A f : nat -> R) b, (forall s, (s < n)%nat -> 0 <= A s) -> total n A = 1 ->
  (forall s, (s < n)%nat -> f s <= b) -> total n (fun s => A s * f s) <= b.
Proof.
  intros n A f b P one H. apply Rle_trans with (total n (fun s => A s * b)).
  - apply total_at_most. intros s L. apply Rmult_le_compat_l; auto.
  - rewrite total_times, one; lra.
Qed.

Lemma spread_below : forall n (A g : nat -> R) b, 0 <= b -> (forall s, (s < n)%nat -> 0 <= A s) -> total n A = 1 ->
  (forall s, (s < n)%nat -> Rabs (g s) <= b) ->
  total n (fun s => Rabs (A s * (g s - total n (fun r => A r * g r)))) <= b.
Proof.
  intros n A g b B P one H. set (mean := total n (fun r => A r * g r)).
  rewrite (total_equal n _ (fun s => A s * Rabs (g s - mean))).
  2:{ intros s L. rewrite Rabs_mult, (Rabs_right (A s)); [ reflexivity | apply Rle_ge, P, L ]. }
  set (u := total n (fun s => A s * Rabs (g s - mean))).
  assert (V : total n (fun s => A s * ((g s - mean) * (g s - mean))) = total n (fun s => A s * (g s * g s)) - mean * mean).
  { rewrite (total_equal n _ (fun s => A s * (g s * g s) + (- (2 * mean)) * (A s * g s) + (mean * mean) * A s)) by (intros; ring).
    rewrite !total_plus, !total_scaled, one. fold mean. ring. }
  assert (W : total n (fun s => A s * (g s * g s)) <= b * b).
  { apply mean_below; try assumption. intros s L. assert (X := within _ _ (H s L)). nra. }
  assert (J : 0 <= total n (fun s => A s * ((Rabs (g s - mean) - u) * (Rabs (g s - mean) - u)))).
  { apply total_not_negative. intros s L. apply Rmult_le_pos; [ apply P, L | apply Rle_0_sqr ]. }
  rewrite (total_equal n _ (fun s => A s * ((g s - mean) * (g s - mean)) + (- (2 * u)) * (A s * Rabs (g s - mean)) + (u * u) * A s)) in J.
  2:{ intros s L. replace ((Rabs (g s - mean) - u) * (Rabs (g s - mean) - u)) with
      (Rabs (g s - mean) * Rabs (g s - mean) + - (2 * u) * Rabs (g s - mean) + u * u) by ring.
      rewrite <- Rabs_mult, (Rabs_right ((g s - mean) * (g s - mean))) by (apply Rle_ge, Rle_0_sqr). ring. }
  rewrite !total_plus, !total_scaled, one, V in J. fold u in J.
  assert (U : 0 <= u) by (apply total_not_negative; intros; apply Rmult_le_pos; [ apply P; assumption | apply Rabs_pos ]).
  assert (0 <= mean * mean) by apply Rle_0_sqr. apply Rsqr_incr_0; [ unfold Rsqr; lra | exact U | exact B ].
Qed.
