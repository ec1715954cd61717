(* the sets {e_1, e_2} and {(3/5, 4/5)} of patterns, tau = 0, so that tokens are patterns *)
Definition first_set (x : R * R) : Prop := x = (1, 0) \/ x = (0, 1).
Definition second_set (x : R * R) : Prop := x = (3 / 5, 4 / 5).
Definition one_set (x y : R * R) : Prop := (first_set x /\ first_set y) \/ (second_set x /\ second_set y).
Definition two_sets (x y : R * R) : Prop := first_set x /\ second_set y.
Definition product (x y : R * R) : R := inner (fst x) (snd x) (fst y) (snd y).
Definition distance (x y : R * R) : R := sqrt (square (fst x) (snd x) (fst y) (snd y)).
Definition scaled (r : R) (x : R * R) : R * R := (r * fst x, r * snd x).
Definition least (pairs : R * R -> R * R -> Prop) (bound : R) : Prop :=
  (exists x y, pairs x y /\ distance x y = bound) /\ forall x y, pairs x y -> bound <= distance x y.

(* all patterns have length 1, the printed minimum over pairs of a set is Delta = 0, kappa of (234) is sqrt(2/5) and 2 tau + Delta < kappa *)
Theorem condition_holds : (forall x, first_set x \/ second_set x -> product x x = 1) /\ least one_set 0 /\ least two_sets (sqrt (2 / 5)) /\ 2 * 0 + 0 < sqrt (2 / 5).
Proof.
  unfold least, distance, product, inner, square. repeat split.
  - intros x [[->| ->]| ->]; simpl; lra.
  - exists (1, 0), (1, 0). split; [ left; split; left; reflexivity | ]. rewrite <- sqrt_0. f_equal. simpl. lra.
  - intros. apply sqrt_pos.
  - exists (0, 1), (3 / 5, 4 / 5). split; [ split; [ right; reflexivity | reflexivity ] | ]. f_equal. simpl. lra.
  - intros x y [[->| ->] ->]; apply sqrt_le_1_alt; simpl; lra.
  - rewrite Rmult_0_r, Rplus_0_l. apply sqrt_lt_R0. lra.
Qed.

(* but no factor r and no numbers, such as the printed 1 and lambda < 1, separate inner products within a set from those between sets *)
Theorem inner_products_do_not_separate : ~ exists r lambda above, lambda < above /\
  (forall x y, one_set x y -> above <= product (scaled r x) (scaled r y)) /\ forall x y, two_sets x y -> product (scaled r x) (scaled r y) <= lambda.
Proof.
  intros (r & lambda & above & L & A & B). unfold product, scaled, inner in A, B.
  assert (A' := A (1, 0) (0, 1) ltac:(left; split; [ left | right ]; reflexivity)). assert (B' := B (1, 0) (3 / 5, 4 / 5) ltac:(split; [ left | ]; reflexivity)).
  simpl in A', B'. assert (S := Rle_0_sqr r). unfold Rsqr in S. nra.
Qed.
