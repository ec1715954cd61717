From Odesys Require Import sequences lengths matrices.

(* softmax over n tokens with real logits: own is 1 for tokens of pattern 1 and 0 for others, c and b their numbers; logits of own tokens are within e of g,
   those of the others within e of 0. Then (126) and (127) hold with the constant e^(2 e), at every g' below or equal to g, too, for (126) *)
Definition softmax (n : nat) (z : nat -> R) (j : nat) : R := exp (z j) / total n (fun s => exp (z s)).

Theorem attention_and_printed_bounds : forall (n : nat) (z own : nat -> R) (c b g g' e : R),
  (0 < n)%nat -> (forall s, own s = 0 \/ own s = 1) -> total n own = c -> total n (fun s => 1 - own s) = b ->
  (forall s, (s < n)%nat -> own s = 1 -> g - e <= z s <= g + e) -> (forall s, (s < n)%nat -> own s = 0 -> - e <= z s <= e) ->
  g' <= g -> forall j, (j < n)%nat ->
  (own j = 1 -> bound_own c b (exp g') <= exp (2 * e) * softmax n z j) /\
  (own j = 0 -> softmax n z j <= exp (2 * e) * bound_other c b (exp g)).
Proof.
  intros n z own c b g g' e N O C B near far below j J.
  assert (order : forall x y, x <= y -> exp x <= exp y) by (intros x y [H|H]; [ apply Rlt_le, exp_increasing, H | rewrite H; lra ]).
  assert (c0 : 0 <= c) by (rewrite <- C; apply total_not_negative; intros s _; destruct (O s); lra).
  assert (b0 : 0 <= b) by (rewrite <- B; apply total_not_negative; intros s _; destruct (O s); lra).
  assert (n0 : 0 < c + b).
  { rewrite <- C, <- B, <- total_plus. rewrite (total_equal n _ (fun _ => 1)) by (intros; ring). rewrite total_constant. assert (Z := lt_0_INR n N). lra. }
  assert (parts : forall r, c * exp (g + r) + b * exp r = total n (fun s => exp r * (own s * exp g + (1 - own s)))).
  { intro r. rewrite total_scaled, total_plus, total_times, C, B, exp_plus. ring. }
  assert (up : total n (fun s => exp (z s)) <= c * exp (g + e) + b * exp e).
  { rewrite parts. apply total_at_most. intros s S0. destruct (O s) as [E|E]; rewrite E.
    - replace (exp e * (0 * exp g + (1 - 0))) with (exp e) by ring. apply order, far; assumption.
    - replace (exp e * (1 * exp g + (1 - 1))) with (exp (g + e)) by (rewrite exp_plus; ring). apply order. destruct (near s S0 E); lra. }
  assert (down : c * exp (g + - e) + b * exp (- e) <= total n (fun s => exp (z s))).
  { rewrite parts. apply total_at_most. intros s S0. destruct (O s) as [E|E]; rewrite E.
    - replace (exp (- e) * (0 * exp g + (1 - 0))) with (exp (- e)) by ring. apply order, far; assumption.
    - replace (exp (- e) * (1 * exp g + (1 - 1))) with (exp (g + - e)) by (rewrite exp_plus; ring). apply order. destruct (near s S0 E); lra. }
  assert (eg := exp_pos g). assert (eg' := exp_pos g'). assert (ee := exp_pos e). assert (em := exp_pos (- e)). assert (ez := exp_pos (z j)).
  assert (one : exp e * exp (- e) = 1) by (rewrite <- exp_plus; replace (e + - e) with 0 by ring; apply exp_0).
  assert (two : exp (2 * e) = exp e * exp e) by (replace (2 * e) with (e + e) by ring; apply exp_plus).
  assert (M : 0 < total n (fun s => exp (z s))) by (apply total_positive; [ exact N | intros; apply exp_pos ]).
  assert (D : 0 < c * exp g + b) by (assert (0 <= c * exp g) by (apply Rmult_le_pos; lra); destruct (Rle_lt_or_eq_dec 0 c c0) as [P|P]; [ assert (0 < c * exp g) by (apply Rmult_lt_0_compat; lra); lra | lra ]).
  assert (D' : 0 < c * exp g' + b) by (assert (0 <= c * exp g') by (apply Rmult_le_pos; lra); destruct (Rle_lt_or_eq_dec 0 c c0) as [P|P]; [ assert (0 < c * exp g') by (apply Rmult_lt_0_compat; lra); lra | lra ]).
  replace (c * exp (g + e) + b * exp e) with (exp e * (c * exp g + b)) in up by (rewrite exp_plus; ring).
  replace (c * exp (g + - e) + b * exp (- e)) with (exp (- e) * (c * exp g + b)) in down by (rewrite exp_plus; ring).
  set (Z := total n (fun s => exp (z s))) in *. unfold softmax. fold Z. split; intro E.
  - apply Rle_trans with (exp g / (c * exp g + b)).
    + replace (bound_own c b (exp g')) with (exp g' / (c * exp g' + b)) by (unfold bound_own; field; lra).
      apply Rmult_le_reg_r with ((c * exp g' + b) * (c * exp g + b)); [ apply Rmult_lt_0_compat; assumption | ].
      replace (exp g' / (c * exp g' + b) * ((c * exp g' + b) * (c * exp g + b))) with (exp g' * (c * exp g + b)) by (field; lra).
      replace (exp g / (c * exp g + b) * ((c * exp g' + b) * (c * exp g + b))) with (exp g * (c * exp g' + b)) by (field; lra).
      assert (exp g' * b <= exp g * b) by (apply Rmult_le_compat_r; [ exact b0 | apply order, below ]). lra.
    + destruct (near j J E) as (low & _). assert (L : exp g * exp (- e) <= exp (z j)) by (rewrite <- exp_plus; apply order; lra).
      apply Rmult_le_reg_r with ((c * exp g + b) * Z); [ apply Rmult_lt_0_compat; assumption | ].
      replace (exp g / (c * exp g + b) * ((c * exp g + b) * Z)) with (exp g * Z) by (field; lra).
      replace (exp (2 * e) * (exp (z j) / Z) * ((c * exp g + b) * Z)) with (exp (2 * e) * exp (z j) * (c * exp g + b)) by (field; lra).
      apply Rle_trans with (exp g * (exp e * (c * exp g + b))); [ apply Rmult_le_compat_l; lra | ].
      rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [ lra | ]. rewrite two.
      replace (exp g * exp e) with (exp e * exp e * (exp g * exp (- e))) by (replace (exp e * exp e * (exp g * exp (- e))) with (exp e * exp g * (exp e * exp (- e))) by ring; rewrite one; ring).
      apply Rmult_le_compat_l; [ apply Rmult_le_pos; lra | exact L ].
  - destruct (far j J E) as (_ & high). assert (H : exp (z j) <= exp e) by (apply order, high).
    replace (bound_other c b (exp g)) with (/ (c * exp g + b)) by (unfold bound_other; field; lra).
    apply Rmult_le_reg_r with ((c * exp g + b) * Z); [ apply Rmult_lt_0_compat; assumption | ].
    replace (exp (z j) / Z * ((c * exp g + b) * Z)) with (exp (z j) * (c * exp g + b)) by (field; lra).
    replace (exp (2 * e) * / (c * exp g + b) * ((c * exp g + b) * Z)) with (exp (2 * e) * Z) by (field; lra).
    apply Rle_trans with (exp e * (c * exp g + b)); [ apply Rmult_le_compat_r; lra | ].
    apply Rle_trans with (exp (2 * e) * (exp (- e) * (c * exp g + b))); [ | apply Rmult_le_compat_l; [ apply Rlt_le, exp_pos | exact down ] ].
    right. rewrite two. replace (exp e * exp e * (exp (- e) * (c * exp g + b))) with (exp e * (exp e * exp (- e)) * (c * exp g + b)) by ring. rewrite one. ring.
Qed.
