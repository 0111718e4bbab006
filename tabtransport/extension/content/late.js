// Runs before the other scripts in pages that were there before the extension.
"use strict";

/** Whether servers in the page may have announced themselves before anybody listened. */
var tabhubLate = true;
