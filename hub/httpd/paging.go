package httpd

import "strconv"

// maxPage is how many elements of a list one answer has at most.
const maxPage = 500

// answerPage answers with the part of a list that the parameters offset and limit ask for.
func answerPage[T, U any](r *request, all []T, report func(T) (U, error)) error {
	offset, err := r.natural("offset", 0)
	if err != nil {
		return err
	}
	limit, err := r.natural("limit", maxPage)
	if err != nil {
		return err
	}
	part := all[min(offset, len(all)):]
	part = part[:min(limit, maxPage, len(part))]
	out := make([]U, len(part))
	for i, element := range part {
		if out[i], err = report(element); err != nil {
			return err
		}
	}
	r.w.Header().Set(totalHeader, strconv.Itoa(len(all)))
	return r.answer(out)
}

// natural returns the number of a parameter, or what is meant without it.
func (r *request) natural(name string, without int) (int, error) {
	v := r.URL.Query().Get(name)
	if v == "" {
		return without, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return 0, badRequest("%s is %.40q; it is a number, 0 or more", name, v)
	}
	return n, nil
}
