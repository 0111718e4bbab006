// The sentinel, where pages get the extension's WebMCP if the browser has none.

import { offerWebMCP } from "../../pagejs/webmcpstub.ts";

import { watchForSigns } from "./sentinel.ts";

watchForSigns(offerWebMCP);
