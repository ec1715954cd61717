
(* X4: any number of tokens and samples, any output weights of positions *)
Theorem conserved : forall d m_a m_b m slope B batch w x y,
  rate_O_V d m_a m_b m slope B batch w x y = 0 /\ rate_K_Q d m_a m_b m slope B batch w x y = 0.
Proof.
  intros d m_a m_b m slope B batch w x y. unfold rate_O_V, rate_K_Q. cbv zeta. rewrite !total_plus. split.
  - assert (A := O_with_V d m_a m_b m slope B batch w y x). assert (C := O_with_V d m_a m_b m slope B batch w x y).
    rewrite (total_equal m (fun i => force_O d m_a m_b slope B batch w i x * WO w i y) (fun i => WO w i y * force_O d m_a m_b slope B batch w i x)) by (intros; ring).
    rewrite (total_equal d (fun c => force_V d m_a m_b m slope B batch w x c * WV w y c) (fun c => WV w y c * force_V d m_a m_b m slope B batch w x c)) by (intros; ring). lra.
  - assert (A := K_with_Q d m_a m_b m slope B batch w x y). assert (C := K_with_Q d m_a m_b m slope B batch w y x).
    rewrite (total_equal d (fun c => force_K d m_a m_b m slope B batch w x c * WK w y c) (fun c => WK w y c * force_K d m_a m_b m slope B batch w x c)) by (intros; ring).
    rewrite (total_equal d (fun c => force_Q d m_a m_b m slope B batch w x c * WQ w y c) (fun c => WQ w y c * force_Q d m_a m_b m slope B batch w x c)) by (intros; ring). lra.
Qed.
