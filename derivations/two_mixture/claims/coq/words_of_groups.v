From Coq Require Import List Arith Lia Permutation.
From Odesys Require Import sequences.
(* A word is c_k, or v_k with a sign; c_1, .., c_K, v_1, .., v_K are orthonormal, and groups are counted from 0 *)
Inductive word := group (k : nat) | signal (positive : bool) (k : nat).
Definition sign (s : bool) : R := if s then 1 else -1.
Definition along_c (k : nat) (x : word) : R := match x with group j => if Nat.eqb j k then 1 else 0 | signal _ _ => 0 end.
Definition along_v (k : nat) (x : word) : R := match x with group _ => 0 | signal s j => if Nat.eqb j k then sign s else 0 end.
Fixpoint over (X : list word) (f : word -> R) : R := match X with nil => 0 | x :: rest => f x + over rest f end.
(* key' (2 s C sum_k v_k c_k' + C sum_k c_k c_k' + C sum_k v_k v_k') query: the head s of the printed construction *)
Definition score (K : nat) (s C : R) (query key : word) : R :=
  2 * s * C * total K (fun k => along_v k key * along_c k query) + C * total K (fun k => along_c k key * along_c k query) +
  C * total K (fun k => along_v k key * along_v k query).
(* w'X softmax(X' W_K' W_Q query), where value is the product with w *)
Definition row (K : nat) (value : word -> R) (s C : R) (X : list word) (query : word) : R :=
  over X (fun key => exp (score K s C query key) * value key) / over X (fun key => exp (score K s C query key)).
Definition head (K : nat) (value : word -> R) (s C : R) (X : list word) : R := over X (row K value s C X).
(* a sample of Definition 2.1 with group k and label y, in any order: c_k, y v_k, and others, which are words +-v_j of other groups *)
Definition drawn (K k : nat) (y : bool) (others X : list word) : Prop := (k < K)%nat /\
  Permutation X (group k :: signal y k :: others) /\ forall x, In x others -> exists s j, x = signal s j /\ (j < K)%nat /\ j <> k.

Lemma only : forall n (f : nat -> R) j, (j < n)%nat -> (forall k, (k < n)%nat -> k <> j -> f k = 0) -> total n f = f j.
Proof.
  intros n f j. induction n as [|n E]; intros L H; [ lia | ]. simpl. destruct (Nat.eq_dec n j) as [D|D].
  - subst n. rewrite (total_equal j f (fun _ => 0)) by (intros; apply H; lia). rewrite total_constant. ring.
  - rewrite E by (intros; first [ apply H | idtac ]; lia). rewrite (H n ltac:(lia) D). ring.
Qed.

Lemma over_permuted : forall X Y f, Permutation X Y -> over X f = over Y f.
Proof. intros X Y f P. induction P; simpl; lra. Qed.

Lemma over_equal : forall X f g, (forall x, In x X -> f x = g x) -> over X f = over X g.
Proof.
  induction X as [|x X E]; intros f g H; simpl; [ reflexivity | ].
  rewrite (H x) by (left; reflexivity). rewrite (E f g); [ reflexivity | ]. intros z Z. apply H. right. exact Z.
Qed.

Lemma over_minus : forall X f g, over X (fun x => f x - g x) = over X f - over X g.
Proof. induction X as [|x X E]; intros f g; simpl; [ ring | rewrite E; ring ]. Qed.

Lemma over_positive : forall X f, X <> nil -> (forall x, 0 < f x) -> 0 < over X f.
Proof.
  induction X as [|x X E]; intros f N H; [ congruence | ]. simpl. assert (A := H x).
  destruct X as [|z X]; [ simpl; lra | ]. assert (B := E f ltac:(congruence) H). lra.
Qed.

Lemma over_not_negative : forall X f, (forall x, 0 <= f x) -> 0 <= over X f.
Proof. induction X as [|x X E]; intros f H; simpl; [ lra | ]. assert (A := H x). assert (B := E f H). lra. Qed.

Lemma over_one : forall X, over X (fun _ => 1) = INR (length X).
Proof. induction X as [|x X E]; [ reflexivity | ]. simpl over. simpl length. rewrite E, S_INR. ring. Qed.

Lemma along_own : forall k s, along_c k (group k) = 1 /\ along_v k (signal s k) = sign s.
Proof. intros k s. simpl. rewrite Nat.eqb_refl. split; reflexivity. Qed.

Lemma along_other : forall k j s, j <> k -> along_c k (group j) = 0 /\ along_v k (signal s j) = 0.
Proof. intros k j s N. simpl. apply Nat.eqb_neq in N. rewrite N. split; reflexivity. Qed.

Lemma in_group : forall K k (f : nat -> R), (k < K)%nat -> total K (fun i => f i * along_c i (group k)) = f k.
Proof.
  intros K k f L. rewrite (only K _ k L).
  - destruct (along_own k true) as [E _]. rewrite E. ring.
  - intros i I D. destruct (along_other i k true ltac:(congruence)) as [E _]. rewrite E. ring.
Qed.

Lemma none : forall K, total K (fun _ => 0) = 0.
Proof. intro K. rewrite total_constant. ring. Qed.

(* what the query c_k sees *)
Lemma score_of_group : forall K k s C key, (k < K)%nat ->
  score K s C (group k) key = 2 * s * C * along_v k key + C * along_c k key.
Proof.
  intros K k s C key L. unfold score. rewrite !in_group by exact L.
  rewrite (total_equal K (fun i => along_v i key * along_v i (group k)) (fun _ => 0)) by (intros; simpl; ring). rewrite none. ring.
Qed.

(* queries +-v_j see the same in both heads *)
Lemma score_of_signal : forall K p j s C key, score K s C (signal p j) key = score K (- s) C (signal p j) key.
Proof.
  intros K p j s C key. unfold score.
  rewrite (total_equal K (fun i => along_v i key * along_c i (signal p j)) (fun _ => 0)) by (intros; simpl; ring). rewrite none. ring.
Qed.

Lemma heads_differ_by_the_group : forall K value s C k y others X, drawn K k y others X ->
  head K value s C X - head K value (- s) C X = row K value s C X (group k) - row K value (- s) C X (group k).
Proof.
  intros K value s C k y others X (L & P & O). unfold head. rewrite <- over_minus. rewrite (over_permuted _ _ _ P). simpl.
  assert (same : forall p j, row K value s C X (signal p j) = row K value (- s) C X (signal p j)).
  { intros p j. unfold row.
    rewrite (over_equal X (fun key => exp (score K s C (signal p j) key) * value key) (fun key => exp (score K (- s) C (signal p j) key) * value key))
      by (intros x _; rewrite (score_of_signal K p j s C x); reflexivity).
    rewrite (over_equal X (fun key => exp (score K s C (signal p j) key)) (fun key => exp (score K (- s) C (signal p j) key)))
      by (intros x _; rewrite (score_of_signal K p j s C x); reflexivity). reflexivity. }
  rewrite (same y k). rewrite (over_equal others _ (fun _ => 0)).
  - assert (Z : forall A : list word, over A (fun _ => 0) = 0) by (induction A as [|a A E]; simpl; [ reflexivity | rewrite E; ring ]).
    rewrite Z. ring.
  - intros x I. destruct (O x I) as (p & j & E & _). rewrite E, (same p j). ring.
Qed.

(* the row of the query c_k *)
Lemma row_of_group : forall K value s C k y others X, drawn K k y others X ->
  row K value s C X (group k) = (exp C * value (group k) + exp (2 * s * C * sign y) * value (signal y k) + over others value) /
    (exp C + exp (2 * s * C * sign y) + INR (length others)).
Proof.
  intros K value s C k y others X (L & P & O).
  assert (own : score K s C (group k) (group k) = C).
  { rewrite score_of_group by exact L. destruct (along_own k y) as [E _]. rewrite E. simpl along_v. ring. }
  assert (sig : score K s C (group k) (signal y k) = 2 * s * C * sign y).
  { rewrite score_of_group by exact L. destruct (along_own k y) as [_ E]. rewrite E. simpl along_c. ring. }
  assert (one : forall x, In x others -> exp (score K s C (group k) x) = 1).
  { intros x I. destruct (O x I) as (p & j & E & _ & D). rewrite E, score_of_group by exact L.
    destruct (along_other k j p D) as [_ V]. rewrite V. simpl along_c. rewrite !Rmult_0_r, Rplus_0_r. apply exp_0. }
  unfold row. rewrite !(over_permuted _ _ _ P). simpl over. rewrite own, sig.
  rewrite (over_equal others (fun key => exp (score K s C (group k) key) * value key) value) by (intros x I; rewrite (one x I); ring).
  rewrite (over_equal others (fun key => exp (score K s C (group k) key)) (fun _ => 1)) by (intros x I; apply one, I). rewrite over_one, <- !Rplus_assoc. reflexivity.
Qed.
