// The sentinel, where the user has left the site out of the extension's WebMCP.

import { watchForSigns } from "./sentinel.ts";

watchForSigns();
