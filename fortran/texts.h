/* Returns error texts in the terms of Fortran. */
#ifndef STEADFOLD_FORTRAN_TEXTS_H
#define STEADFOLD_FORTRAN_TEXTS_H

/* Returns the text of this thread's last failing call. The text is valid until the thread asks again. */
const char* sf_fortran_error_text(void);

#endif
