/** The default theme of VitePress, with tables that can be read on narrow screens. */
import DefaultTheme from "vitepress/theme";
import "./tables.css";

export default DefaultTheme;
