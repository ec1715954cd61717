From Odesys Require Import lengths matrices.

(* Weights of Eq. (1) for tokens that are vectors: c_1, .., c_K, v_1, .., v_K are any orthonormal vectors with d entries, and W_K, W_Q have m rows *)
Definition orthonormal (d K : nat) (c v : nat -> nat -> R) : Prop := forall i j, (i < K)%nat -> (j < K)%nat ->
  inner d (c i) (c j) = (if Nat.eqb i j then 1 else 0) /\ inner d (v i) (v j) = (if Nat.eqb i j then 1 else 0) /\ inner d (c i) (v j) = 0.
Definition vector (c v : nat -> nat -> R) (x : word) : nat -> R := match x with group k => c k | signal s k => fun a => sign s * v k a end.
(* H(X): the sum over the tokens x_l of w'X softmax(X'W_K'W_Q x_l) *)
Definition head_of_weights (d m : nat) (w : nat -> R) (W_K W_Q : nat -> nat -> R) (c v : nat -> nat -> R) (X : list word) : R :=
  let logit query key := inner m (apply d W_K (vector c v key)) (apply d W_Q (vector c v query)) in
  over X (fun query => over X (fun key => exp (logit query key) * inner d w (vector c v key)) / over X (fun key => exp (logit query key))).

Lemma inner_symmetric : forall d x z, inner d x z = inner d z x.
Proof. intros. apply total_equal. intros. ring. Qed.

Lemma inner_combined : forall d p q x z u, inner d (fun a => p * x a + q * z a) u = p * inner d x u + q * inner d z u.
Proof. intros. unfold inner. rewrite <- !total_scaled, <- total_plus. apply total_equal. intros. ring. Qed.

Lemma total_two : forall n k f, total (n + k) f = total n f + total k (fun i => f (n + i)%nat).
Proof. intros n k f. induction k as [|k E]; [ rewrite Nat.add_0_r; simpl; ring | rewrite Nat.add_succ_r; simpl; rewrite E; ring ]. Qed.

Section weights.
Variables (d K : nat) (c v : nat -> nat -> R).
Hypothesis normal : orthonormal d K c v.
Definition of_group (x : word) : Prop := match x with group k => (k < K)%nat | signal _ k => (k < K)%nat end.

Lemma along_vectors : forall i x, (i < K)%nat -> of_group x -> inner d (c i) (vector c v x) = along_c i x /\ inner d (v i) (vector c v x) = along_v i x.
Proof.
  intros i x I G. destruct x as [k|s k]; simpl in G; simpl vector; simpl along_c; simpl along_v.
  - destruct (normal k i G I) as (A & _ & _). destruct (normal k i G I) as (_ & _ & B). rewrite (inner_symmetric d (c i)), (inner_symmetric d (v i)). split; assumption.
  - destruct (normal i k I G) as (_ & A & B).
    replace (inner d (c i) (fun a => sign s * v k a)) with (sign s * inner d (c i) (v k)) by (unfold inner; rewrite <- total_scaled; apply total_equal; intros; ring).
    replace (inner d (v i) (fun a => sign s * v k a)) with (sign s * inner d (v i) (v k)) by (unfold inner; rewrite <- total_scaled; apply total_equal; intros; ring).
    rewrite A, B, (Nat.eqb_sym i k). split; [ ring | destruct (Nat.eqb k i); ring ].
Qed.

(* 2K rows: W_Q has c_1, .., c_K, v_1, .., v_K, and W_K has 2 s C v_k + C c_k and C v_k, so that W_K'W_Q is the printed matrix *)
Definition rows_Q (i : nat) : nat -> R := if lt_dec i K then c i else v (i - K).
Definition rows_K (s C : R) (i : nat) : nat -> R := if lt_dec i K then fun a => 2 * s * C * v i a + C * c i a else fun a => C * v (i - K) a.

Theorem product_is_printed : forall s C a b,
  total (2 * K) (fun i => rows_K s C i a * rows_Q i b) =
  2 * s * C * total K (fun k => v k a * c k b) + C * total K (fun k => c k a * c k b) + C * total K (fun k => v k a * v k b).
Proof.
  intros s C a b. replace (2 * K)%nat with (K + K)%nat by lia. rewrite total_two.
  rewrite (total_equal K (fun i => rows_K s C i a * rows_Q i b) (fun k => 2 * s * C * (v k a * c k b) + C * (c k a * c k b))).
  - rewrite total_plus, !total_scaled. f_equal. rewrite <- total_scaled. apply total_equal. intros i I. unfold rows_K, rows_Q.
    destruct (lt_dec (K + i) K); [ lia | ]. replace (K + i - K)%nat with i by lia. ring.
  - intros i I. unfold rows_K, rows_Q. destruct (lt_dec i K); [ ring | lia ].
Qed.

Lemma logit_is_score : forall s C query key, of_group query -> of_group key ->
  inner (2 * K) (apply d (rows_K s C) (vector c v key)) (apply d rows_Q (vector c v query)) = score K s C query key.
Proof.
  intros s C query key Q G. unfold inner at 1. replace (2 * K)%nat with (K + K)%nat by lia. rewrite total_two. unfold score.
  rewrite (total_equal K (fun i => apply d (rows_K s C) (vector c v key) i * apply d rows_Q (vector c v query) i)
    (fun k => 2 * s * C * (along_v k key * along_c k query) + C * (along_c k key * along_c k query))).
  - rewrite total_plus, !total_scaled. f_equal. rewrite <- total_scaled. apply total_equal. intros i I. unfold apply, rows_K, rows_Q.
    destruct (lt_dec (K + i) K); [ lia | ]. replace (K + i - K)%nat with i by lia.
    replace (inner d (fun a => C * v i a) (vector c v key)) with (C * inner d (v i) (vector c v key)) by (unfold inner; rewrite <- total_scaled; apply total_equal; intros; ring).
    destruct (along_vectors i key I G) as [_ A]. destruct (along_vectors i query I Q) as [_ B]. rewrite A, B. ring.
  - intros i I. unfold apply, rows_K, rows_Q. destruct (lt_dec i K); [ | lia ]. rewrite inner_combined.
    destruct (along_vectors i key I G) as [A1 A2]. destruct (along_vectors i query I Q) as [B _]. rewrite A1, A2, B. ring.
Qed.

Lemma head_is_head : forall s C w value X, (forall x, In x X -> of_group x) -> (forall x, of_group x -> inner d w (vector c v x) = value x) ->
  head_of_weights d (2 * K) w (rows_K s C) rows_Q c v X = head K value s C X.
Proof.
  intros s C w value X G W. unfold head_of_weights, head. apply over_equal. intros query Q. unfold row. f_equal.
  - apply over_equal. intros key I. rewrite (logit_is_score s C query key (G query Q) (G key I)), (W key (G key I)). reflexivity.
  - apply over_equal. intros key I. rewrite (logit_is_score s C query key (G query Q) (G key I)). reflexivity.
Qed.

Lemma inner_of_total : forall (u : nat -> nat -> R) x, inner d (fun a => total K (fun k => u k a)) x = total K (fun k => inner d (u k) x).
Proof.
  intros u x. unfold inner. rewrite <- total_swap. apply total_equal. intros a _. rewrite Rmult_comm, <- total_scaled. apply total_equal. intros. ring.
Qed.

Lemma drawn_of_group : forall k y others X, drawn K k y others X -> forall x, In x X -> of_group x.
Proof.
  intros k y others X (L & P & O) x I. apply (Permutation_in x P) in I. destruct I as [E|[E|I]]; [ subst x; exact L | subst x; exact L | ].
  destruct (O x I) as (s & j & E & J & _). subst x. exact J.
Qed.
End weights.

(* there are such vectors for every d >= 2K: the axes *)
Definition axis (j : nat) : nat -> R := fun a => if Nat.eqb a j then 1 else 0.
Lemma axes : forall d i j, (i < d)%nat -> (j < d)%nat -> inner d (axis i) (axis j) = if Nat.eqb i j then 1 else 0.
Proof.
  intros d i j I J. unfold inner. rewrite (only d _ i I).
  - unfold axis. rewrite Nat.eqb_refl. destruct (Nat.eqb i j); ring.
  - intros a A N. unfold axis. apply Nat.eqb_neq in N. rewrite N. ring.
Qed.

Theorem vectors_exist : forall d K, (2 * K <= d)%nat -> exists c v, orthonormal d K c v.
Proof.
  intros d K L. exists axis, (fun k => axis (K + k)). intros i j I J. rewrite !axes by lia. repeat split.
  - destruct (Nat.eqb_spec i j) as [E|E]; destruct (Nat.eqb_spec (K + i) (K + j)) as [F|F]; lia || reflexivity.
  - destruct (Nat.eqb_spec i (K + j)); [ lia | reflexivity ].
Qed.
