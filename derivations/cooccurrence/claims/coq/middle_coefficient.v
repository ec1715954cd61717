From Coq Require Import List.
From Odesys Require Import sequences.

(* logistic factors of the samples of a class; S is their sum over n, A that of -g (1 - g) *)
Fixpoint total (g : list R) : R := match g with nil => 0 | x :: rest => x + total rest end.
Fixpoint squares (g : list R) : R := match g with nil => 0 | x :: rest => x * x + squares rest end.
Definition size (g : list R) : R := INR (length g).
Definition alike (g : list R) : Prop := exists m, 0 < m /\ forall x, In x g -> m <= x <= 2 * m.

Lemma size_cons : forall x g, size (x :: g) = 1 + size g.
Proof. intros. unfold size. simpl length. rewrite S_INR. ring. Qed.

Lemma total_at_most : forall top g, (forall x, In x g -> 0 <= x <= top) -> 0 <= total g <= top * size g.
Proof.
  induction g as [| x g IH]; intros H.
  - unfold size; simpl; lra.
  - rewrite size_cons. simpl total. assert (0 <= x <= top) by (apply H; left; auto).
    assert (0 <= total g <= top * size g) by (apply IH; intros; apply H; right; auto). lra.
Qed.

Lemma squares_at_most : forall top g, (forall x, In x g -> 0 <= x <= top) -> 0 <= squares g <= top * total g.
Proof.
  induction g as [| x g IH]; intros H.
  - simpl; lra.
  - simpl. assert (0 <= x <= top) by (apply H; left; auto).
    assert (0 <= squares g <= top * total g) by (apply IH; intros; apply H; right; auto). nra.
Qed.

Lemma spread : forall m g, squares g - 2 * m * total g + m * m * size g >= 0.
Proof.
  induction g as [| x g IH].
  - unfold size; simpl; lra.
  - rewrite size_cons. simpl. assert (0 <= (x - m) * (x - m)) by apply Rle_0_sqr. nra.
Qed.

Lemma squares_from_below : forall g, 0 < size g -> total g * total g <= size g * squares g.
Proof.
  intros g P. assert (H := spread (total g / size g) g).
  replace (squares g - 2 * (total g / size g) * total g + total g / size g * (total g / size g) * size g)
    with ((size g * squares g - total g * total g) / size g) in H by (field; lra).
  assert (0 <= (size g * squares g - total g * total g) / size g * size g) by (apply Rmult_le_pos; lra).
  replace ((size g * squares g - total g * total g) / size g * size g) with (size g * squares g - total g * total g) in H0 by (field; lra).
  lra.
Qed.

Lemma inside : forall m g, (forall x, In x g -> m <= x <= 2 * m) -> squares g <= 3 * m * total g - 2 * m * m * size g.
Proof.
  induction g as [| x g IH]; intros H.
  - unfold size; simpl; lra.
  - rewrite size_cons. simpl. assert (m <= x <= 2 * m) by (apply H; left; auto).
    assert (squares g <= 3 * m * total g - 2 * m * m * size g) by (apply IH; intros; apply H; right; auto).
    assert (0 <= (x - m) * (2 * m - x)) by (apply Rmult_le_pos; lra). nra.
Qed.

Lemma squares_from_above : forall g, alike g -> size g * squares g <= 9 / 8 * (total g * total g).
Proof.
  intros g (m & P & H). assert (I := inside m g H). assert (N : 0 <= size g) by apply pos_INR.
  assert (0 <= (3 * total g - 4 * m * size g) * (3 * total g - 4 * m * size g)) by apply Rle_0_sqr.
  assert (size g * squares g <= size g * (3 * m * total g - 2 * m * m * size g)) by (apply Rmult_le_compat_l; auto).
  nra.
Qed.

Section classes.
Variables (g1 g2 g3 g4 : list R) (n : R).
Hypotheses (some : 0 < n) (half : 2 * size g1 = n) (sixth2 : 6 * size g2 = n) (sixth3 : 6 * size g3 = n) (sixth4 : 6 * size g4 = n).
Let S (g : list R) : R := total g / n.
Let A (g : list R) : R := - ((total g - squares g) / n).
Hypotheses (low2 : S g4 <= S g2) (low3 : S g4 <= S g3) (high2 : S g2 <= S g1) (high3 : S g3 <= S g1).
Let the_a := a (A g1) (A g2) (A g3) (A g4).
Let the_b := b (A g1) (A g2) (A g3) (A g4).

Lemma less_squares : forall k g, alike g -> k * size g = n -> 0 < k -> S g - k * (9 / 8) * (S g * S g) <= - A g.
Proof.
  intros k g H K P. assert (U := squares_from_above g H). unfold S, A.
  assert (0 < size g) by (apply Rmult_lt_reg_l with k; lra).
  assert (E : squares g <= 9 / 8 * (total g * total g) / size g).
  { apply Rmult_le_reg_r with (size g); auto. replace (9 / 8 * (total g * total g) / size g * size g) with (9 / 8 * (total g * total g)) by (field; lra). lra. }
  apply Rmult_le_reg_r with n; auto.
  replace (- - ((total g - squares g) / n) * n) with (total g - squares g) by (field; lra).
  replace ((total g / n - k * (9 / 8) * (total g / n * (total g / n))) * n) with (total g - k * (9 / 8) * (total g * total g) / n) by (field; lra).
  rewrite <- K. replace (k * (9 / 8) * (total g * total g) / (k * size g)) with (9 / 8 * (total g * total g) / size g) by (field; lra).
  lra.
Qed.

Lemma more_squares : forall k g, k * size g = n -> 0 < k -> - A g <= S g - k * (S g * S g).
Proof.
  intros k g K P. assert (H : 0 < size g) by (apply Rmult_lt_reg_l with k; lra). assert (U := squares_from_below g H). unfold S, A.
  assert (E : total g * total g / size g <= squares g).
  { apply Rmult_le_reg_r with (size g); auto. replace (total g * total g / size g * size g) with (total g * total g) by (field; lra). lra. }
  apply Rmult_le_reg_r with n; auto.
  replace (- - ((total g - squares g) / n) * n) with (total g - squares g) by (field; lra).
  replace ((total g / n - k * (total g / n * (total g / n))) * n) with (total g - k * (total g * total g) / n) by (field; lra).
  rewrite <- K. replace (k * (total g * total g) / (k * size g)) with (total g * total g / size g) by (field; lra).
  lra.
Qed.

Definition small (top : R) : Prop := forall x, In x g1 \/ In x g2 \/ In x g3 \/ In x g4 -> 0 < x <= top.

Lemma sum_is_positive : forall g, size g = n / 6 \/ size g = n / 2 -> (forall x, In x g -> 0 < x) -> 0 < S g.
Proof.
  intros g L H. assert (0 < size g) by (destruct L; lra). unfold S. apply Rmult_lt_0_compat; [ | apply Rinv_0_lt_compat; auto ].
  destruct g as [| x g]. { unfold size in H0; simpl in H0; lra. }
  simpl. assert (0 < x) by (apply H; left; auto).
  assert (forall h, (forall y, In y h -> 0 < y) -> 0 <= total h).
  { induction h as [| y h IH]; intros; simpl; [ lra | ]. assert (0 < y) by (apply H2; left; auto). assert (0 <= total h) by (apply IH; intros; apply H2; right; auto). lra. }
  assert (0 <= total g) by (apply H2; intros; apply H; right; auto). lra.
Qed.

Lemma rate_of_a : forall top, small top -> top < 1 -> the_a < 0.
Proof.
  intros top H T.
  assert (forall g, (forall x, In x g -> 0 < x <= top) -> 0 < S g -> A g < 0).
  { intros g G P. unfold A, S in *. assert (0 < total g). { replace (total g) with (total g / n * n) by (field; lra). apply Rmult_lt_0_compat; auto. }
    assert (I := squares_at_most top g). assert (squares g <= top * total g) by (apply I; intros x J; destruct (G x J); lra).
    assert (0 < (total g - squares g) / n) by (apply Rmult_lt_0_compat; [ nra | apply Rinv_0_lt_compat; auto ]). lra. }
  assert (0 < S g1) by (apply sum_is_positive; [ right; lra | intros x J; destruct (H x); auto ]).
  assert (0 < S g2) by (apply sum_is_positive; [ left; lra | intros x J; destruct (H x); auto ]).
  assert (A g1 < 0) by (apply H0; auto). assert (A g2 < 0) by (apply H0; auto). unfold the_a, a. lra.
Qed.

(* exp(-y F) <= 1/10 is g <= 1/11 *)
Theorem minus_a_quarter : small (1 / 11) -> alike g1 -> alike g2 -> - (1 / 4) <= - the_b / (2 * the_a).
Proof.
  intros H L1 L2. assert (N := rate_of_a (1 / 11) H ltac:(lra)).
  assert (B1 := less_squares 2 g1 L1 half ltac:(lra)). assert (B2 := less_squares 6 g2 L2 sixth2 ltac:(lra)).
  assert (B3 := more_squares 6 g3 sixth3 ltac:(lra)). assert (B4 := more_squares 6 g4 sixth4 ltac:(lra)).
  assert (P4 : 0 < S g4) by (apply sum_is_positive; [ left; lra | intros x J; destruct (H x); auto ]).
  assert (T : S g1 <= 1 / 22).
  { unfold S. assert (Q := total_at_most (1 / 11) g1). destruct Q as [_ Q]. { intros x J. destruct (H x); auto. lra. }
    apply Rmult_le_reg_r with n; auto. replace (total g1 / n * n) with (total g1) by (field; lra). lra. }
  assert (M : 2 * - A g3 + 2 * - A g4 <= 3 * - A g1 + - A g2).
  { set (s1 := S g1) in *. set (s2 := S g2) in *. set (s3 := S g3) in *. set (s4 := S g4) in *.
    assert (2 * (s3 - 6 * (s3 * s3)) + 2 * (s4 - 6 * (s4 * s4)) <= 3 * (s1 - 2 * (9 / 8) * (s1 * s1)) + (s2 - 6 * (9 / 8) * (s2 * s2))).
    { assert (0 <= (s1 - s3) * (1 / 22 - s1)) by (apply Rmult_le_pos; lra). assert (0 <= (s1 - s2) * (1 / 22 - s1)) by (apply Rmult_le_pos; lra).
      assert (0 <= (s2 - s4) * (1 / 22 - s1)) by (apply Rmult_le_pos; lra). assert (0 <= (s3 - s4) * (1 / 22 - s1)) by (apply Rmult_le_pos; lra).
      assert (0 <= s4 * (1 / 22 - s1)) by (apply Rmult_le_pos; lra). assert (0 <= s4 * s4) by (apply Rmult_le_pos; lra).
      assert (0 <= (s1 - s2) * (s1 - s2)) by apply Rle_0_sqr. assert (0 <= (s1 - s3) * (s1 - s3)) by apply Rle_0_sqr.
      assert (0 <= (s1 - s2) * s4) by (apply Rmult_le_pos; lra). assert (0 <= (s1 - s3) * s4) by (apply Rmult_le_pos; lra).
      assert (0 <= (s2 - s4) * s4) by (apply Rmult_le_pos; lra). assert (0 <= (s3 - s4) * s4) by (apply Rmult_le_pos; lra).
      assert (0 <= (s1 - s2) * (s2 - s4)) by (apply Rmult_le_pos; lra). assert (0 <= (s1 - s3) * (s3 - s4)) by (apply Rmult_le_pos; lra).
      assert (0 <= (s2 - s4) * (s3 - s4)) by (apply Rmult_le_pos; lra). assert (0 <= (s1 - s2) * (s1 - s3)) by (apply Rmult_le_pos; lra).
      assert (0 <= (s1 - s2) * (s3 - s4)) by (apply Rmult_le_pos; lra). assert (0 <= (s1 - s3) * (s2 - s4)) by (apply Rmult_le_pos; lra).
      assert (0 <= (s2 - s4) * (s2 - s4)) by apply Rle_0_sqr. assert (0 <= (s3 - s4) * (s3 - s4)) by apply Rle_0_sqr. nra. }
    lra. }
  apply Rmult_le_reg_r with (- (2 * the_a)); [ lra | ].
  replace (- the_b / (2 * the_a) * - (2 * the_a)) with the_b by (field; lra). unfold the_b, b, the_a, a in *. lra.
Qed.

(* d bounds exp(-y F), and so g; S_1 - S_3 >= 9/10 (S_1 - S_2) is epsilon <= 1/10, and R <= 3 is 4 (S_1 - S_2) >= S_3 + S_4 *)
Theorem quotient_of_b_and_a : forall d, 0 < d <= 1 / 10 -> small d -> 9 / 10 * (S g1 - S g2) <= S g1 - S g3 ->
  S g3 + S g4 <= 4 * (S g1 - S g2) ->
  Rabs (the_b / the_a) <= (1 + 8 * d) * Rmax ((S g1 - S g3) / (S g1 + S g2)) (S g4 / (S g1 + S g2)).
Proof.
  intros d D H close middle. assert (N := rate_of_a d H ltac:(lra)).
  assert (W : forall g, (forall x, In x g -> 0 < x <= d) -> (1 - d) * S g <= - A g <= S g).
  { intros g G. assert (Q := squares_at_most d g). destruct Q as [Q1 Q2]. { intros x J. destruct (G x J). lra. }
    unfold S, A. split; apply Rmult_le_reg_r with n; auto;
    replace (- - ((total g - squares g) / n) * n) with (total g - squares g) by (field; lra).
    - replace ((1 - d) * (total g / n) * n) with ((1 - d) * total g) by (field; lra). lra.
    - replace (total g / n * n) with (total g) by (field; lra). lra. }
  assert (W1 := W g1 ltac:(intros x J; apply H; auto)). assert (W2 := W g2 ltac:(intros x J; apply H; auto)).
  assert (W3 := W g3 ltac:(intros x J; apply H; auto)). assert (W4 := W g4 ltac:(intros x J; apply H; auto)).
  assert (P4 : 0 < S g4) by (apply sum_is_positive; [ left; lra | intros x J; destruct (H x); auto ]).
  set (s1 := S g1) in *. set (s2 := S g2) in *. set (s3 := S g3) in *. set (s4 := S g4) in *.
  set (M := Rmax ((s1 - s3) / (s1 + s2)) (s4 / (s1 + s2))).
  assert (M1 : s1 - s3 <= M * (s1 + s2)).
  { replace (s1 - s3) with ((s1 - s3) / (s1 + s2) * (s1 + s2)) by (field; lra). apply Rmult_le_compat_r; [ lra | apply Rmax_l ]. }
  assert (M2 : s4 <= M * (s1 + s2)).
  { replace s4 with (s4 / (s1 + s2) * (s1 + s2)) at 1 by (field; lra). apply Rmult_le_compat_r; [ lra | apply Rmax_r ]. }
  set (top := M * (s1 + s2)) in *.
  assert (first : s1 <= 49 / 9 * top) by lra.
  assert (E1 : d * s1 <= d * (49 / 9 * top)) by (apply Rmult_le_compat_l; lra).
  assert (E3 : d * s3 <= d * (49 / 9 * top)) by (apply Rmult_le_compat_l; lra).
  assert (0 <= (1 - d) * s4) by (apply Rmult_le_pos; lra).
  assert (U : the_b <= (1 + 49 / 9 * d) * top) by (unfold the_b, b; lra).
  assert (L : - ((1 + 49 / 9 * d) * top) <= the_b) by (unfold the_b, b; lra).
  assert (Z : 0 <= M) by (apply Rle_trans with (s4 / (s1 + s2)); [ apply Rlt_le; apply Rmult_lt_0_compat; [ lra | apply Rinv_0_lt_compat; lra ] | apply Rmax_r ]).
  assert (K : (1 + 49 / 9 * d) * top <= (1 + 8 * d) * M * - the_a).
  { assert (Y : (1 - d) * (s1 + s2) <= - the_a) by (unfold the_a, a; lra).
    assert (X : (1 + 8 * d) * M * ((1 - d) * (s1 + s2)) <= (1 + 8 * d) * M * - the_a) by (apply Rmult_le_compat_l; [ apply Rmult_le_pos; lra | auto ]).
    replace ((1 + 8 * d) * M * ((1 - d) * (s1 + s2))) with ((1 + 8 * d) * (1 - d) * top) in X by (unfold top; ring).
    assert (V : (1 + 49 / 9 * d) * top <= (1 + 8 * d) * (1 - d) * top) by (apply Rmult_le_compat_r; [ unfold top; apply Rmult_le_pos; lra | nra ]). lra. }
  apply Rabs_le. split; apply Rmult_le_reg_r with (- the_a); try lra;
  replace (the_b / the_a * - the_a) with (- the_b) by (field; lra); lra.
Qed.
End classes.
