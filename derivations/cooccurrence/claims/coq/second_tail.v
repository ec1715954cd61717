(* the second bound of Lemma H.1 is false: the exponents are in the wrong order at V = M = 1, t = 1/2 *)
Theorem second_tail_fails :
  ~ forall V M t, 0 < V -> 0 < M -> 0 < t -> exp (- exponent V M t) <= exp (- Rmin (first V t) (second M t)).
Proof.
  intro H. specialize (H 1 1 (/ 2) ltac:(lra) ltac:(lra) ltac:(lra)).
  assert (E : exponent 1 1 (/ 2) = 3 / 28) by (unfold exponent; field). assert (F : first 1 (/ 2) = 1 / 8) by (unfold first; field).
  assert (S : second 1 (/ 2) = 1 / 4) by (unfold second; field). rewrite E, F, S, Rmin_left in H by lra.
  assert (N := exp_increasing (- (1 / 8)) (- (3 / 28)) ltac:(lra)). lra.
Qed.
