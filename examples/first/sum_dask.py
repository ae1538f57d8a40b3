# python3 sum_dask.py
import dask.array as da
import steadfold.dask as sfd

x = 1 / da.arange(1, 1001, chunks=77)  # chunks of any size, anywhere

total = sfd.sum(x).compute()  # correctly rounded

print(f"sum {float(total).hex()} (should be 0x1.df11f45f4e61ap+2)")
