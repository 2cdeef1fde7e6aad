import React from 'react';
import { makeLabel } from '#/utils/label'; //! makeLabel
import * as label from '../utils/label';
import Panel from './Panel'; //! Panel

export function Cart(props: { total: number }) {
  const weigh = props.total;
  label.weigh(null); //! weigh
  return <Panel text={makeLabel(weigh)} />; //! Panel; makeLabel
}
