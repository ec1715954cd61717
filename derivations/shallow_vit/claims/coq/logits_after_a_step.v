From Odesys Require Import sequences lengths matrices.

(* key A e + n and query B e + u, e the direction of q_1 and r_1, of length 1: the logit is at least (A - eps) (B - eps) for all errors up to eps <= 1/2 and
   A, B >= 1, and that at least 1 - eps times the printed bound, with A = (1 + K) q and B = (1 + Q) q, q >= 1 *)
Theorem least_logit : forall (d : nat) (e n u : nat -> R) (K Q q eps : R), inner d e e = 1 -> norm d n <= eps -> norm d u <= eps ->
  0 <= eps <= / 2 -> 0 <= K -> 0 <= Q -> 1 <= q ->
  (1 - eps) * bound K Q q eps <= inner d (fun k => (1 + K) * q * e k + n k) (fun k => (1 + Q) * q * e k + u k).
Proof.
  intros d e n u K Q q eps unit nn un E K0 Q0 q1. set (A := (1 + K) * q). set (B := (1 + Q) * q).
  assert (Kq : 0 <= K * q) by (apply Rmult_le_pos; lra). assert (Qq : 0 <= Q * q) by (apply Rmult_le_pos; lra).
  assert (A1 : q <= A) by (unfold A; lra). assert (B1 : q <= B) by (unfold B; lra).
  set (y := fun k => A * e k + n k). set (x := inner d e n).
  assert (split : inner d y (fun k => B * e k + u k) = B * inner d y e + inner d y u).
  { unfold inner. rewrite <- total_scaled, <- total_plus. apply total_equal. intros; ring. }
  assert (ye : inner d y e = A + x).
  { unfold y, x, inner in *. rewrite (total_equal d _ (fun k => A * (e k * e k) + e k * n k)) by (intros; ring). rewrite total_plus, total_scaled, unit. ring. }
  assert (yy : inner d y y = A * A + 2 * A * x + inner d n n).
  { assert (Z := square_of_sum d e n A 1). rewrite unit in Z.
    transitivity (inner d (fun k => A * e k + 1 * n k) (fun k => A * e k + 1 * n k)); [ apply total_equal; intros; unfold y; ring | rewrite Z; unfold x; ring ]. }
  assert (nn2 : inner d n n <= eps * eps) by (rewrite <- norm_square; apply Rmult_le_compat; try assumption; apply norm_not_negative).
  assert (en : norm d e = 1) by (unfold norm; rewrite unit; apply sqrt_1).
  assert (xb := within _ _ (cauchy_schwarz d e n)). fold x in xb. rewrite en, Rmult_1_l in xb.
  assert (yu := within _ _ (cauchy_schwarz d y u)). assert (r0 := norm_not_negative d y). assert (u0 := norm_not_negative d u). assert (n0 := norm_not_negative d n).
  assert (r2 : norm d y * norm d y <= (A - eps) * (A - eps) + 2 * A * (x + eps)) by (rewrite norm_square, yy; lra).
  set (r := norm d y) in *. set (s := x + eps) in *. assert (s0 : 0 <= s) by (unfold s; lra).
  assert (Ae : 0 <= A - eps) by lra.
  assert (room : eps * r <= B * s + eps * (A - eps)).
  { assert (Bs : 0 <= B * s) by (apply Rmult_le_pos; lra). assert (eA : 0 <= eps * (A - eps)) by (apply Rmult_le_pos; lra).
    apply Rsqr_incr_0; [ | apply Rmult_le_pos; lra | lra ]. unfold Rsqr.
    replace (eps * r * (eps * r)) with (eps * eps * (r * r)) by ring.
    apply Rle_trans with (eps * eps * ((A - eps) * (A - eps) + 2 * A * s)); [ apply Rmult_le_compat_l; [ apply Rmult_le_pos; lra | exact r2 ] | ].
    assert (h1 : eps * A <= B * (A - eps)).
    { apply Rle_trans with (/ 2 * A); [ apply Rmult_le_compat_r; lra | ]. apply Rle_trans with (1 * (A - eps)); [ lra | apply Rmult_le_compat_r; lra ]. }
    assert (h2 : 2 * (eps * s) * (eps * A) <= 2 * (eps * s) * (B * (A - eps))) by (apply Rmult_le_compat_l; [ assert (0 <= eps * s) by (apply Rmult_le_pos; lra); lra | exact h1 ]).
    assert (h3 : 0 <= B * s * (B * s)) by (apply Rmult_le_pos; exact Bs). lra. }
  assert (ur : norm d u * r <= eps * r) by (apply Rmult_le_compat_r; lra).
  assert (least : (A - eps) * (B - eps) <= inner d y (fun k => B * e k + u k)).
  { rewrite split, ye. assert (xs : x = s - eps) by (unfold s; ring). rewrite xs in *. lra. }
  eapply Rle_trans; [ | exact least ]. assert (P : bound K Q q eps = A * B - eps * q) by (unfold bound, A, B; ring). rewrite P.
  assert (t1 : 0 <= eps * ((A - 1) * (B - 1))) by (apply Rmult_le_pos; [ lra | apply Rmult_le_pos; lra ]).
  assert (t2 : 0 <= eps * ((q - 1) * (1 - eps))) by (apply Rmult_le_pos; [ lra | apply Rmult_le_pos; lra ]). lra.
Qed.
