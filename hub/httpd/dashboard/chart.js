// Charts over time, by uPlot, which draws them into a canvas; what they say in words is
// beside them. The library is fetched when the first one is drawn.

/**
 * @typedef {object} Line
 * @property {string} look its class in the legend, which has its colour
 * @property {number[]} [dash] in pixels
 * @property {boolean} [bars]
 */

/**
 * @typedef {object} Chart
 * @property {(times: number[], lines: (number | null)[][]) => void} show times in seconds since 1970
 * @property {() => void} close
 */

const HEIGHT = 190; // in pixels

/**
 * Which elements of a line have no neighbour, and would not be seen without a point.
 * @type {(u: {data: ArrayLike<number | null | undefined>[]}, i: number) => number[]}
 */
const alone = ({ data }, i) => Array.from(data[i], (v, at) => (v != null && data[i][at - 1] == null && data[i][at + 1] == null ? at : -1)).filter((at) => at >= 0);

/**
 * Draws a chart into an element, as wide as that, again whenever its width or the page's colours
 * change.
 * @param {HTMLElement} into with a .legend, of which the items have the lines' colours
 * @param {Line[]} lines
 * @param {(index: number | null) => void} point is told which element of the lists is pointed at
 * @returns {Promise<Chart>}
 */
export async function chart(into, lines, point) {
  const { default: UPlot } = await import("./vendor/uplot/uPlot.esm.js");
  const colour = (/** @type {string} */ look, part = "color") =>
    getComputedStyle(/** @type {Element} */ (into.querySelector(look))).getPropertyValue(part);
  const axis = { stroke: () => colour(".legend"), ticks: { show: false }, font: "12px system-ui, sans-serif" };
  const grid = { stroke: () => colour(".canvas", "border-top-color"), width: 1 };
  const canvas = /** @type {HTMLElement} */ (into.querySelector(".canvas"));
  const plot = new UPlot({
    width: canvas.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { setScale: false }, points: { size: 7 } },
    scales: { y: { range: (_, __, max) => [0, Math.max(max * 1.1, 1)] } },
    axes: [
      { ...axis, grid: { show: false }, size: 30, values: (_, splits) => splits.map(clock) },
      { ...axis, grid, size: 56, values: (_, splits) => splits.map((n) => n.toLocaleString("en")) },
    ],
    series: [
      {},
      ...lines.map(({ look, dash, bars }) => ({
        stroke: () => colour(`.${look}`),
        fill: bars ? () => colour(`.${look}`) : undefined,
        paths: bars ? UPlot.paths.bars?.({ size: [0.9, 100, 1] }) : undefined,
        points: bars ? { show: false } : { size: 5, show: true, filter: alone },
        width: bars ? 0 : 1.75,
        dash,
      })),
    ],
    hooks: { setCursor: [({ cursor }) => point(cursor.idx ?? null)] },
  }, [[], ...lines.map(() => [])], canvas);

  const resized = new ResizeObserver(() => plot.setSize({ width: canvas.clientWidth, height: HEIGHT }));
  resized.observe(canvas);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const repaint = () => plot.redraw(false);
  scheme.addEventListener("change", repaint);
  return {
    show: (times, lists) => plot.setData([times, ...lists]),
    close() {
      resized.disconnect();
      scheme.removeEventListener("change", repaint);
      plot.destroy();
    },
  };
}

/** @param {number} seconds since 1970 */
export const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
