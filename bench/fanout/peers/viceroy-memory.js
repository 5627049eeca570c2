/** Viceroy with links in shared memory, as processes of one host are linked wherever the addon is built. */
process.env.VICEROY_LINKS = "memory";

export { start } from "./viceroy.js";
