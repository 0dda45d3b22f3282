// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/bindings/parameters.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "halocline/comm/exchange/transport.hpp"
#include "halocline/core/error.hpp"

namespace halocline::qcd::bindings {
namespace {

constexpr double unset = std::numeric_limits<double>::quiet_NaN();

std::string or_default(const char* name, const char* otherwise) {
  return text(name).empty() ? std::string(otherwise) : std::string(name);
}

[[noreturn]] void refuse_name(const char* call, const char* what, std::string_view name, const char* known) {
  throw core::InvalidArgument(fmt::format("{}: {} is \"{}\"; give one of {}", call, what, name, known));
}

constexpr const char* known_actions =
    "wilson, wilson-clover, twisted-clover, twisted-doublet, domain-wall, mobius, one-link, asqtad, hisq";

/// The family of an action.
enum class Family { wilson, walls, staggered };

Family family_of(std::string_view kind, const char* call) {
  for (const char* name : {"wilson", "wilson-clover", "twisted-clover", "twisted-doublet"})
    if (kind == name) return Family::wilson;
  if (kind == "domain-wall" || kind == "mobius") return Family::walls;
  if (kind == "one-link" || kind == "asqtad" || kind == "hisq") return Family::staggered;
  refuse_name(call, "the kind of an action", kind, known_actions);
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Refuses a number that the kind does not have, unless it has its default.
class Unused {
public:
  Unused(std::string_view kind, const char* call) : kind_(kind), call_(call) {}
  void operator()(bool belongs, const char* name, double value, double otherwise) const {
    if (belongs || same(value, otherwise)) return;
    throw core::InvalidArgument(
        fmt::format("{}: {} = {} given, but an action of the kind \"{}\" has no {}; leave it out, "
                    "or give another kind",
                    call_, name, value, kind_, name));
  }

private:
  std::string_view kind_;
  const char* call_;
};

void check_unused(const halocline_action& a, Family family, std::string_view kind, const char* call) {
  const halocline_action none = defaults<halocline_action>();
  const Unused unused(kind, call);
  const bool clover = family == Family::wilson && kind != "wilson";
  const bool twisted = kind == "twisted-clover" || kind == "twisted-doublet";
  unused(clover, "csw", a.csw, none.csw);
  unused(clover, "csw_t", a.csw_t, none.csw_t);
  unused(family == Family::wilson, "xi0", a.xi0, none.xi0);
  unused(family == Family::wilson, "nu", a.nu, none.nu);
  unused(twisted, "mu", a.mu, none.mu);
  unused(kind == "twisted-doublet", "epsilon", a.epsilon, none.epsilon);
  unused(family == Family::walls, "m5", a.m5, none.m5);
  unused(family == Family::walls, "ls", a.ls, none.ls);
  unused(kind == "mobius", "b", a.b, none.b);
  unused(kind == "mobius", "c", a.c, none.c);
  unused(kind == "mobius", "b_list", a.b_list != nullptr, 0);
  unused(kind == "mobius", "c_list", a.c_list != nullptr, 0);
  unused(kind == "asqtad", "u0", a.u0, none.u0);
  unused(kind == "hisq", "naik_epsilon", a.naik_epsilon, none.naik_epsilon);
}

/// b_s or c_s: one number, or a list of ls.
std::vector<std::complex<double>> coefficients(double one, const double* list, int ls, const char* call,
                                               const char* name, Digest& digest) {
  digest(one)(list != nullptr);
  if (list == nullptr) return {one};
  if (ls < 1 || ls > 64)
    throw core::InvalidArgument(fmt::format("{}: ls = {} given with {}; give 4 to 64 points", call, ls, name));
  std::vector<std::complex<double>> out;
  for (int s = 0; s < ls; ++s) {
    out.emplace_back(list[2 * s], list[2 * s + 1]);
    digest(list[2 * s])(list[2 * s + 1]);
  }
  return out;
}

/// @throws InvalidArgument  for a transport that nobody knows. One process opens none, and would not notice.
void check_transport(const std::string& name, const char* call) {
  if (name.empty() || name == "auto") return;
  const std::string_view inner = std::string_view(name).substr(name.starts_with("hybrid:") ? 7 : 0);
  std::string known = "auto";
  for (const auto& transport : comm::transport_kinds()) {
    if (transport.name == inner) return;
    known += fmt::format(", {}", transport.name);
  }
  refuse_name(call, "the transport", name, known.c_str());
}

}  // namespace

template <>
halocline_format defaults() {
  return {.struct_size = sizeof(halocline_format),
          .order = "canonical",
          .basis = "",
          .indices = "",
          .bits = 64,
          .staggered_phases = -1,
          .link_boundary = {0, 0, 0, 0},
          .link_scale = {0, 0, 0, 0}};
}

template <>
halocline_action defaults() {
  return {.struct_size = sizeof(halocline_action),
          .kind = "wilson-clover",
          .mass = 0,
          .boundary = {{1, 0}, {1, 0}, {1, 0}, {-1, 0}},
          .csw = 0,
          .csw_t = unset,
          .xi0 = 1,
          .nu = 1,
          .mu = 0,
          .epsilon = 0,
          .m5 = 1.8,
          .ls = 8,
          .b = 1,
          .c = 0,
          .b_list = nullptr,
          .c_list = nullptr,
          .u0 = 1,
          .naik_epsilon = 0};
}

template <>
halocline_solver_parameters defaults() {
  const SolverParameters p;
  return {.struct_size = sizeof(halocline_solver_parameters),
          .kind = "auto",
          .precision = "mixed",
          .tolerance = p.tolerance,
          .max_iterations = p.max_iterations,
          .even_odd = 1,
          .restart_length = p.restart_length,
          .rhs_batch = p.rhs_batch,
          .right_hand_sides = p.right_hand_sides,
          .transport = "",
          .device = "cpu",
          .inner_precision = "auto",
          .outer = "bicgstab",
          .nsap = p.schwarz.nsap,
          .domain_steps = p.schwarz.steps,
          .domain_inverse = "jacobi",
          .domains = {p.schwarz.blocks[0], p.schwarz.blocks[1], p.schwarz.blocks[2], p.schwarz.blocks[3]},
          .domain_storage = "float",
          .multigrid_levels = p.multigrid.levels,
          .multigrid_vectors = p.multigrid.vectors};
}

template <>
halocline_report defaults() {
  return {.struct_size = sizeof(halocline_report),
          .converged = 0,
          .iterations = 0,
          .residual = 0,
          .seconds = 0,
          .columns = 0,
          .notes = 0,
          .reason = "",
          .method = "",
          .device = ""};
}

void check_struct_size(std::size_t size, std::size_t least, const char* call, const char* name) {
  constexpr std::size_t most = 65536;  // a size beyond it is memory that nobody has set
  if (size < least || size > most)
    throw core::InvalidArgument(
        fmt::format("{}: the struct_size of `{}` is {}, expected {} to {}; call the _init function of the struct with "
                    "its sizeof first",
                    call, name, size, least, most));
}

void check_unknown_bytes(const std::byte* first, std::size_t count, const char* call, const char* name) {
  if (std::any_of(first, first + count, [](std::byte byte) { return byte != std::byte{0}; }))
    throw core::InvalidArgument(fmt::format(
        "{}: `{}` has members that this version of the library does not know, and one of them is set; leave "
        "it as _init made it, or link a newer library",
        call, name));
}

bool SpinorFormat::canonical() const {
  return bits == 64 && order.sites == order::SiteOrder{} && order.inside == order::Inside::spin_colour &&
         std::string_view(order.basis->name) == spin_bases::degrand_rossi.name;
}

namespace {

/// What spinors and links have in common.
halocline_format checked_format(const halocline_format* format, const char* call, Digest& digest) {
  halocline_format f = taken(format, first_format, call, "format");
  if (text(f.order).empty()) f.order = "canonical";
  if (f.bits != 32 && f.bits != 64)
    throw core::InvalidArgument(
        fmt::format("{}: a format of {} bits given; give 32 for float or 64 for double", call, f.bits));
  digest(text(f.order))(text(f.basis))(text(f.indices))(f.bits)(f.staggered_phases);
  for (int mu = 0; mu < 4; ++mu) digest(f.link_boundary[mu])(f.link_scale[mu]);
  return f;
}

}  // namespace

SpinorFormat spinor_format(const halocline_format* format, const char* call, Digest& digest) {
  const halocline_format f = checked_format(format, call, digest);
  SpinorFormat out{.order = order::spinor_order(f.order), .bits = f.bits};
  if (!text(f.basis).empty()) out.order.basis = &order::basis(f.basis);
  if (text(f.indices) == "spin-colour")
    out.order.inside = order::Inside::spin_colour;
  else if (text(f.indices) == "colour-spin")
    out.order.inside = order::Inside::colour_spin;
  else if (!text(f.indices).empty())
    refuse_name(call, "the order of indices", f.indices, "spin-colour, colour-spin");
  return out;
}

LinkFormat link_format(const halocline_format* format, const char* call, Digest& digest) {
  const halocline_format f = checked_format(format, call, digest);
  LinkFormat out{.order = order::gauge_order(f.order), .bits = f.bits};
  if (f.staggered_phases < -1 || f.staggered_phases > 1)
    throw core::InvalidArgument(fmt::format("{}: staggered_phases = {} given; give 1, 0, or -1 for that of the order",
                                            call, f.staggered_phases));
  if (f.staggered_phases >= 0) out.order.staggered_phases = f.staggered_phases == 1;
  for (std::size_t mu = 0; mu < 4; ++mu) {
    if (f.link_boundary[mu] != 0) out.order.boundary[mu] = f.link_boundary[mu];
    if (f.link_scale[mu] != 0) out.order.scale[mu] = f.link_scale[mu];
  }
  return out;
}

Action action(const halocline_action* from, const char* call, Digest& digest) {
  given(from, call, "action");
  const halocline_action a = taken(from, first_action, call, "action");
  const std::string kind = or_default(a.kind, "wilson-clover");
  const Family family = family_of(kind, call);
  check_unused(a, family, kind, call);
  digest(kind)(a.mass)(a.csw)(a.csw_t)(a.xi0)(a.nu)(a.mu)(a.epsilon)(a.m5)(a.ls)(a.u0)(a.naik_epsilon);
  std::array<std::complex<double>, 4> boundary;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    boundary[axis] = {a.boundary[axis][0], a.boundary[axis][1]};
    digest(a.boundary[axis][0])(a.boundary[axis][1]);
  }
  const auto checked = [](Action made) {
    validate(made);
    return made;
  };
  if (family == Family::walls)
    return checked(DomainWallAction{.mass = a.mass,
                                    .m5 = a.m5,
                                    .ls = a.ls,
                                    .b = coefficients(a.b, a.b_list, a.ls, call, "b_list", digest),
                                    .c = coefficients(a.c, a.c_list, a.ls, call, "c_list", digest),
                                    .boundary = boundary});
  if (family == Family::staggered)
    return checked(StaggeredAction{
        .mass = a.mass, .kind = staggered_kind(kind), .epsilon = a.naik_epsilon, .u0 = a.u0, .boundary = boundary});
  WilsonCloverAction wilson{.mass = a.mass, .csw = a.csw, .boundary = boundary, .xi0 = a.xi0, .nu = a.nu};
  if (!std::isnan(a.csw_t)) wilson.csw_t = a.csw_t;
  if (kind == "twisted-clover") return checked(TwistedCloverAction{wilson, a.mu});
  if (kind == "twisted-doublet") return checked(TwistedDoubletAction{wilson, a.mu, a.epsilon});
  return checked(wilson);
}

SolverParameters solver_parameters(const halocline_solver_parameters* from, const char* call, Digest& digest) {
  const halocline_solver_parameters c = taken(from, first_parameters, call, "parameters");
  SolverParameters p;
  p.kind = or_default(c.kind, "auto");
  p.precision = or_default(c.precision, "mixed");
  p.tolerance = c.tolerance;
  p.max_iterations = c.max_iterations;
  p.even_odd = c.even_odd != 0;
  p.restart_length = c.restart_length;
  p.rhs_batch = c.rhs_batch;
  p.right_hand_sides = c.right_hand_sides;
  p.transport = text(c.transport);
  p.device = or_default(c.device, "cpu");
  p.inner_precision = or_default(c.inner_precision, "auto");
  p.outer = or_default(c.outer, "bicgstab");
  p.schwarz.nsap = c.nsap;
  p.schwarz.steps = c.domain_steps;
  p.schwarz.inner = or_default(c.domain_inverse, "jacobi");
  p.schwarz.storage = or_default(c.domain_storage, "float");
  p.multigrid.levels = c.multigrid_levels;
  p.multigrid.vectors = c.multigrid_vectors;
  digest(p.kind)(p.precision)(p.tolerance)(p.max_iterations)(p.even_odd)(p.restart_length)(p.rhs_batch)(
      p.right_hand_sides)(p.transport)(p.device)(p.inner_precision)(p.outer)(p.schwarz.nsap)(p.schwarz.steps)(
      p.schwarz.inner)(p.schwarz.storage)(p.multigrid.levels)(p.multigrid.vectors);
  for (std::size_t axis = 0; axis < 4; ++axis) {
    p.schwarz.blocks[axis] = c.domains[axis];
    digest(c.domains[axis]);
  }
  p.validate();
  check_transport(p.transport, call);
  return p;
}

}  // namespace halocline::qcd::bindings
