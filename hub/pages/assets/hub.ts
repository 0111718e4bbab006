/** The origin of the hub that serves the script, which writes it here: a copy of the script finds the hub. */
export const HUB = "{hub}";
