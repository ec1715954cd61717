(* the conflicting units are on: H_s(X_{k,r,-r}) > -b for both heads *)
Definition conflicting_on : Prop :=
  0 < at_state unit_p_1_p_m /\ 0 < at_state unit_p_1_m_p /\ 0 < at_state unit_p_2_p_m /\ 0 < at_state unit_p_2_m_p /\
  0 < at_state unit_m_1_p_m /\ 0 < at_state unit_m_1_m_p /\ 0 < at_state unit_m_2_p_m /\ 0 < at_state unit_m_2_m_p.
(* the conditions of Lemmas D.4 and D.5: H_+(X_{k,-,-}) < -b for all k, and H_-(X_{k,+,+}) < -b for all k *)
Definition off_p : Prop := at_state unit_p_1_m_m < 0 /\ at_state unit_p_2_m_m < 0.
Definition off_m : Prop := at_state unit_m_1_p_p < 0 /\ at_state unit_m_2_p_p < 0.
(* what they need besides: H_+(X_{k,+,+}) > -b, and H_-(X_{k,-,-}) > -b; where these are off, too, the derived rates are 0 and the printed sums are not *)
Definition own_on_p : Prop := 0 < at_state unit_p_1_p_p /\ 0 < at_state unit_p_2_p_p.
Definition own_on_m : Prop := 0 < at_state unit_m_1_m_m /\ 0 < at_state unit_m_2_m_m.
Definition g (margin : R) : R := / (1 + exp margin).

Lemma g_of : forall x, g x = sigmoid (- x).
Proof. intro x. unfold g, sigmoid. rewrite Ropp_involutive. reflexivity. Qed.

(* own units are on in stage 1: b > 0, all neurons start at 0, and n_c and n_v do not fall from there *)
Theorem own_units_are_on : forall n_c n_v, symmetric n_c n_v -> 0 < b -> 0 <= n_c -> 0 <= n_v -> own_on_p /\ own_on_m /\ conflicting_on.
Proof.
  intros n_c n_v (E1 & E2 & E3 & E4 & E5 & E6 & E7 & E8) B C V. unfold own_on_p, own_on_m, conflicting_on, at_state.
  unfold unit_p_1_p_p, unit_p_2_p_p, unit_m_1_m_m, unit_m_2_m_m, unit_p_1_p_m, unit_p_1_m_p, unit_p_2_p_m, unit_p_2_m_p, unit_m_1_p_m, unit_m_1_m_p, unit_m_2_p_m, unit_m_2_m_p.
  rewrite ?E1, ?E2, ?E3, ?E4, ?E5, ?E6, ?E7, ?E8. repeat split; lra.
Qed.

(* and wherever conflicting units are on *)
Theorem own_units_follow : forall n_c n_v, symmetric n_c n_v -> conflicting_on -> (off_p -> own_on_p) /\ (off_m -> own_on_m).
Proof.
  intros n_c n_v (E1 & E2 & E3 & E4 & E5 & E6 & E7 & E8) on. unfold conflicting_on, off_p, off_m, own_on_p, own_on_m, at_state in *.
  unfold unit_p_1_p_m, unit_p_1_m_p, unit_p_2_p_m, unit_p_2_m_p, unit_m_1_p_m, unit_m_1_m_p, unit_m_2_p_m, unit_m_2_m_p in on.
  unfold unit_p_1_p_p, unit_p_2_p_p, unit_m_1_m_m, unit_m_2_m_m, unit_p_1_m_m, unit_p_2_m_m, unit_m_1_p_p, unit_m_2_p_p.
  rewrite ?E1, ?E2, ?E3, ?E4, ?E5, ?E6, ?E7, ?E8 in *. lra.
Qed.

(* on symmetric states *)
Lemma off_by_numbers : forall n_c n_v, symmetric n_c n_v -> (off_p /\ own_on_p) \/ (off_m /\ own_on_m) -> b + n_c < 2 * n_v /\ 0 < b + n_c + 2 * n_v.
Proof.
  intros n_c n_v (E1 & E2 & E3 & E4 & E5 & E6 & E7 & E8) off. unfold off_p, off_m, own_on_p, own_on_m, at_state in off.
  unfold unit_p_1_p_p, unit_p_2_p_p, unit_m_1_m_m, unit_m_2_m_m, unit_p_1_m_m, unit_p_2_m_m, unit_m_1_p_p, unit_m_2_p_p in off.
  rewrite ?E1, ?E2, ?E3, ?E4, ?E5, ?E6, ?E7, ?E8 in *. lra.
Qed.

Ltac at_symmetric n_c n_v :=
  unfold unit_p_1_p_p, unit_p_1_m_m, unit_m_1_p_p, unit_m_1_m_m, unit_p_2_p_p, unit_p_2_m_m, unit_m_2_p_p, unit_m_2_m_m in *;
  destruct (Rlt_dec 0 (b + n_c)) as [conflicting|conflicting];
  repeat match goal with
  | |- context [step ?x] => first [ rewrite (step_on x) by lra | rewrite (step_off x) by lra ]
  end;
  assert (F : forall x, x = - b - n_c - 2 * n_v -> sigmoid x = sigmoid (- b - n_c - 2 * n_v)) by (intros x ->; reflexivity);
  assert (Z : forall x, x = 0 -> sigmoid x = sigmoid 0) by (intros x ->; reflexivity);
  generalize dependent (sigmoid (- b - n_c - 2 * n_v)); generalize dependent (sigmoid 0); intros zero Z same F;
  repeat match goal with |- context [sigmoid ?x] => first [ rewrite (F x) by ring | rewrite (Z x) by ring ] end;
  repeat split; field.
