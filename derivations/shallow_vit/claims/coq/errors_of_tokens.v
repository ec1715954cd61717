From Odesys Require Import sequences lengths.

(* W is linear and has norm at most 1; image is its value at a token x, feature p of the pattern mu, sigma the error of
   Assumption 1 (delta for keys and queries), and |x - mu| <= tau by (5) *)
Theorem error_of_a_token : forall (d e : nat) (W : (nat -> R) -> nat -> R) (x mu p : nat -> R) (sigma tau : R),
  (forall a b k, W (fun j => a j + b j) k = W a k + W b k) -> (forall a, norm e (W a) <= norm d a) ->
  (forall a b, (forall j, a j = b j) -> forall k, W a k = W b k) ->
  norm e (fun k => W mu k - p k) <= sigma -> norm d (fun j => x j - mu j) <= tau ->
  norm e (fun k => W x k - p k) <= longest sigma tau.
Proof.
  intros d e W x mu p sigma tau linear shortens same first second.
  assert (T := norm_triangle e (fun k => W mu k - p k) (W (fun j => x j - mu j))).
  assert (E : norm e (fun k => W x k - p k) = norm e (fun k => W mu k - p k + W (fun j => x j - mu j) k)).
  { unfold norm, inner. f_equal. apply total_equal. intros k _.
    assert (L := linear mu (fun j => x j - mu j) k).
    rewrite (same (fun j => mu j + (x j - mu j)) x) in L by (intro; ring). rewrite L. ring. }
  rewrite E. assert (S := shortens (fun j => x j - mu j)). unfold longest. lra.
Qed.
