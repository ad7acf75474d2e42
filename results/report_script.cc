#include "results/report_assets.h"

namespace specbench::results {

// Two kinds of chart: "plot" (lines and points on two linear axes; an axis with labels stands for
// categories) and "bars". Colours are read from the style sheet, so that charts follow the theme.
extern const char kReportScript[] = R"js(
(function () {
  'use strict';
  const charts = [];
  const dark = window.matchMedia('(prefers-color-scheme: dark)');

  function report(error) {
    const place = document.getElementById('errors');
    place.hidden = false;
    place.textContent += 'This page could not draw a chart: ' + error + '\n';
  }

  function palette() {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue('--' + name).trim();
    return { a: read('a'), b: read('b'), c: read('c'), d: read('d'), grey: read('muted'),
             text: read('text'), grid: read('grid') };
  }

  // A tick at each label and nowhere else.
  function axisOf(spec, colours, isVertical) {
    const axis = {
      type: 'linear',
      title: { display: Boolean(spec.title), text: spec.title, color: colours.text },
      ticks: { color: colours.text, maxRotation: 0, font: { size: 12 } },
      grid: { color: colours.grid, borderColor: colours.grey }
    };
    if (spec.min !== undefined) axis.min = spec.min;
    if (spec.max !== undefined) axis.max = spec.max;
    if (spec.whole) {
      axis.ticks.precision = 0;
      axis.ticks.includeBounds = false;
    }
    if (spec.min === undefined && spec.max === undefined) axis.grace = '6%';
    if (spec.labels) {
      axis.min = -0.5;
      axis.max = spec.labels.length - 0.5;
      axis.reverse = isVertical;
      axis.afterBuildTicks = (scale) => { scale.ticks = spec.labels.map((_, i) => ({ value: i })); };
      axis.ticks.callback = (value) => spec.labels[value];
      axis.ticks.autoSkip = false;
    }
    return axis;
  }

  function plotSeries(s, colours) {
    const colour = colours[s.colour];
    const isBound = s.label === '' && s.colour !== 'grey';
    return {
      label: s.label, data: s.points, showLine: s.line, borderColor: isBound ? colour + '66' : colour,
      backgroundColor: s.fill ? colour + '2a' : colour,
      borderWidth: s.label.endsWith(' interval') ? 4 : (s.label === '' ? 1 : 2),
      borderDash: s.dashed ? [5, 4] : [], fill: s.fill ? '+1' : false,
      pointRadius: s.radius, pointHoverRadius: s.radius + 1, pointStyle: s.shape, tension: 0
    };
  }

  function barSeries(s, colours) {
    return { label: s.label, data: s.values, backgroundColor: colours[s.colour], maxBarThickness: 38 };
  }

  function configure(spec, colours) {
    const isPlot = spec.kind === 'plot';
    const plain = (item) => item.text !== '';
    const options = {
      animation: false, responsive: true, maintainAspectRatio: false,
      interaction: { mode: 'nearest', intersect: false },
      plugins: {
        legend: { display: spec.legend !== false, position: 'bottom',
                  labels: { color: colours.text, usePointStyle: isPlot, boxHeight: isPlot ? 7 : 12,
                            boxWidth: 14, filter: plain } },
        tooltip: { filter: (item) => item.dataset.label !== '' }
      }
    };
    if (isPlot) {
      options.scales = { x: axisOf(spec.x, colours, false), y: axisOf(spec.y, colours, true) };
      return { type: 'line', data: { datasets: spec.series.map((s) => plotSeries(s, colours)) }, options };
    }
    const x = axisOf(spec.x, colours, false);
    const y = { ticks: { color: colours.text, autoSkip: false }, grid: { display: false }, stacked: spec.stacked };
    x.stacked = spec.stacked;
    delete x.grace;
    x.beginAtZero = true;
    options.indexAxis = 'y';
    options.scales = { x, y };
    const labels = spec.labels.map((label) => label.split(' '));
    return { type: 'bar', data: { labels, datasets: spec.series.map((s) => barSeries(s, colours)) }, options };
  }

  function draw() {
    while (charts.length) charts.pop().destroy();
    const colours = palette();
    const specs = JSON.parse(document.getElementById('report-data').textContent);
    specs.forEach((spec, i) => {
      try {
        charts.push(new Chart(document.getElementById('chart-' + i), configure(spec, colours)));
      } catch (error) {
        report(error);
      }
    });
    document.body.dataset.drawn = String(charts.length);
  }

  // On paper everything is light and unfolded; afterwards as before.
  let folded = [];
  function paper(isOn) {
    document.documentElement.classList.toggle('paper', isOn);
    if (isOn) folded = Array.from(document.querySelectorAll('details:not([open])'));
    folded.forEach((part) => { part.open = isOn; });
    draw();
  }

  window.addEventListener('error', (event) => report(event.message));
  try {
    draw();
    document.body.dataset.ms = performance.now().toFixed(1);
    dark.addEventListener('change', draw);
    window.addEventListener('beforeprint', () => paper(true));
    window.addEventListener('afterprint', () => paper(false));
  } catch (error) {
    report(error);
  }
})();
)js";

}  // namespace specbench::results
