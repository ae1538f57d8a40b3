# python3 sum.py
import numpy as np
import steadfold as sf

x = 1 / np.arange(1, 1001)

total = sf.sum(x)  # correctly rounded

print(f"sum {total.hex()} (should be 0x1.df11f45f4e61ap+2)")
