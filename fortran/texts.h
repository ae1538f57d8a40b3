/* Error texts in Fortran's words. */
#ifndef STEADFOLD_FORTRAN_TEXTS_H
#define STEADFOLD_FORTRAN_TEXTS_H

/* What went wrong in this thread's last call that failed. The text stays until the thread asks again. */
const char* sf_fortran_error_text(void);

#endif
