/* Modules stay loaded to the end, so that LeakSanitizer can tell whose memory was not freed. */
int dlclose(void* module);
int dlclose(void* module) { return module == 0; }
