// Runs before the other scripts in pages that were there before them.

/** Whether servers in the page may have announced themselves before anybody listened. */
globalThis.tabhubOpenedEarlier = true;
